#include "engines.h"

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

}  // namespace torchtrtc
