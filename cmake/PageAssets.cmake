# The files of the page that `torchtrtc report` writes become strings of the compiler's library. Scripts stand in the order in
# which the page needs them.
set(page_folder "${CMAKE_SOURCE_DIR}/src/compiler/reports/page/assets")
set(page_scripts
  vendored/dagre.min.js vendored/d3-dispatch.min.js vendored/d3-color.min.js vendored/d3-interpolate.min.js
  vendored/d3-timer.min.js vendored/d3-ease.min.js vendored/d3-selection.min.js vendored/d3-transition.min.js
  vendored/d3-drag.min.js vendored/d3-zoom.min.js
  dom.js data.js theme.js tabs.js tables.js search.js summary.js nodes.js tree.js layout.js drawing.js details.js graph.js strip.js roofline.js
  profile.js memory.js precision.js verification.js main.js)

# Appends the file's text to <out> as a string literal, in pieces: compilers need not take longer ones than 64 KiB.
function(page_literal file out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page_folder}/${file}")
  file(READ "${page_folder}/${file}" text)
  set(literal "")
  string(LENGTH "${text}" length)
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 16000 piece)
    string(APPEND literal "\nR\"PAGE(${piece})PAGE\"")
    math(EXPR start "${start} + 16000")
  endwhile()
  set(${out} "${literal}" PARENT_SCOPE)
endfunction()

set(page_text "// Made by cmake/PageAssets.cmake.\n#include \"compiler/reports/page/assets.h\"\nnamespace torchtrt {\n")
page_literal(page.html literal)
string(APPEND page_text "const char* const kPageHtml =${literal};\n")
page_literal(page.css literal)
string(APPEND page_text "const char* const kPageStyle =${literal};\n")
page_literal(vendored/LICENCES.txt literal)
string(APPEND page_text "const char* const kPageLicences =${literal};\n")
string(APPEND page_text "const char* const kPageScripts[] = {\n")
foreach(script IN LISTS page_scripts)
  page_literal(${script} literal)
  string(APPEND page_text "${literal},\n")
endforeach()
string(APPEND page_text "nullptr};\n}  // namespace torchtrt\n")

set(page_code "${CMAKE_BINARY_DIR}/generated/page/assets.cpp")
set(page_before "")
if(EXISTS "${page_code}")
  file(READ "${page_code}" page_before)
endif()
if(NOT page_before STREQUAL page_text)  # a file that is written again is compiled again
  file(WRITE "${page_code}" "${page_text}")
endif()
