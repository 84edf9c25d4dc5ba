#include <torch/csrc/jit/ir/constants.h>

#include "base/logging.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {

// Only those that every call would give; one inside a branch or loop may depend on the input and stays.
bool removeWarnings(const GraphPtr& graph) {
  bool changed = false;
  for (auto it = graph->block()->nodes().begin(); it != graph->block()->nodes().end();) {
    torch::jit::Node* node = *it++;
    if (node->kind() == c10::Symbol::fromQualString("aten::warn")) {
      const auto text = torch::jit::constant_as<std::string>(node->input(0));
      TORCHTRT_LOG(kWARNING, "the module warns: " << text.value_or("(a computed text)"));
      node->destroy();
      changed = true;
    }
  }
  return changed;
}

}  // namespace torchtrt::lowering
