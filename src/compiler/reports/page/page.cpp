// Puts the page together: the files of assets/, and the data as JSON, one script element for each part.
#include "torchtrt/page.h"

#include <string_view>

#include "compiler/reports/page/assets.h"
#include "compiler/reports/page/html.h"
#include "compiler/reports/page/outline_json.h"
#include "compiler/reports/text.h"
#include "runtime/weight_set.h"
#include "stitching/stitching.h"
#include "torchtrt/version.h"

namespace torchtrt {

namespace {

// The report that travels with the module; empty where it has none.
std::string recordOf(const torch::jit::Module& module) {
  if (!module.hasattr(stitching::kJsonRecord)) {
    return "";
  }
  const torch::jit::IValue record = module.attr(stitching::kJsonRecord);
  return record.isString() ? record.toStringRef() : "";
}

std::string enginesJson(const torch::jit::Module& module) {
  return list(runtime::enginesIn(module), [](const auto& entry) {
    const runtime::Engine& engine = *entry.second;
    std::string json = outlineJson(engine.name(), engine::outlineOf(engine.engine()));
    json.pop_back();
    return json + ", \"device\": " + quoted(engine.device().str()) +
           ", \"memory_bytes\": " + std::to_string(engine.engine().memoryBytes()) + "}";
  });
}

std::string nameOf(const torch::jit::Module& module, const PageOptions& options) {
  if (!options.title.empty()) {
    return options.title;
  }
  return options.report != nullptr ? options.report->module : module.type()->name()->name();
}

void addData(std::string& html, const char* id, const std::string& json) {
  html += std::string("<script type=\"application/json\" id=\"") + id + "\">" + escapedJson(json) + "</script>\n";
}

std::string dataOf(const torch::jit::Module& module, const PageOptions& options) {
  const std::string record = options.report != nullptr ? options.report->toJson() : recordOf(module);
  std::string html;
  addData(html, "data-about",
          "{\"title\": " + quoted(options.title) + ", \"module\": " + quoted(nameOf(module, options)) +
              ", \"version\": " + quoted(TORCHTRT_VERSION_STRING) + "}");
  addData(html, "data-report", record.empty() ? "null" : record);
  addData(html, "data-engines", enginesJson(module));
  addData(html, "data-profile", options.profile == nullptr ? "null" : options.profile->toJson());
  addData(html, "data-verification", options.verification == nullptr ? "null" : options.verification->toJson());
  return html;
}

// Replaces the only `mark` in the text.
void put(std::string& text, std::string_view mark, const std::string& content) {
  text.replace(text.find(mark), mark.size(), content);
}

}  // namespace

std::string page(const torch::jit::Module& module, const PageOptions& options) {
  std::string scripts;
  for (const char* const* script = kPageScripts; *script != nullptr; ++script) {
    scripts += std::string("<script>\n") + *script + "</script>\n";
  }
  std::string html = kPageHtml;
  // The last mark first: what is put in may hold a text that looks like another mark.
  put(html, "{{scripts}}", scripts);
  put(html, "{{data}}", dataOf(module, options));
  put(html, "{{style}}", kPageStyle);
  put(html, "{{licences}}", kPageLicences);
  put(html, "{{title}}", escapedHtml(nameOf(module, options)));
  return html;
}

}  // namespace torchtrt
