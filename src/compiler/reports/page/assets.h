// The files of assets/, which cmake/PageAssets.cmake makes strings of the library.
#pragma once

namespace torchtrt {

extern const char* const kPageHtml;       // page.html
extern const char* const kPageStyle;      // page.css
extern const char* const kPageLicences;   // vendored/LICENCES.txt
extern const char* const kPageScripts[];  // those that page.html needs, in order; null ends them

}  // namespace torchtrt
