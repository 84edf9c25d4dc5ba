#include "engines.h"

#include "file_kind.h"
#include "files.h"
#include "torchtrt/error.h"

namespace torchtrtc {

std::vector<std::pair<std::string, c10::intrusive_ptr<torchtrt::runtime::Engine>>> findEngines(
    const torch::jit::Module& module) {
  static const auto kEngine = c10::getCustomClassType<c10::intrusive_ptr<torchtrt::runtime::Engine>>();
  std::vector<std::pair<std::string, c10::intrusive_ptr<torchtrt::runtime::Engine>>> engines;
  for (const auto& attribute : module.named_attributes(/*recurse=*/true)) {
    if (attribute.value.isObject() && attribute.value.type()->isSubtypeOf(*kEngine)) {
      engines.emplace_back(attribute.name, attribute.value.toCustomClass<torchtrt::runtime::Engine>());
    }
  }
  return engines;
}

void withEngine(const std::string& path, const std::function<void(const std::string& engine)>& use) {
  if (kindOf(path) != FileKind::kEngine) {
    rejectFile(path, "an engine that --save-engine wrote");
  }
  try {
    use(readFile(path));
  } catch (const torchtrt::EngineError& error) {
    throw torchtrt::EngineError(error.code(), "\"" + path + "\": " + error.message(), error.location(), error.advice());
  }
}

}  // namespace torchtrtc
