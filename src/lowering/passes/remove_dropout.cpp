#include <torch/csrc/jit/ir/constants.h>

#include <array>
#include <string_view>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

constexpr std::array<std::string_view, 8> kDropouts = {
    "aten::dropout",       "aten::dropout_",       "aten::feature_dropout",       "aten::feature_dropout_",
    "aten::alpha_dropout", "aten::alpha_dropout_", "aten::feature_alpha_dropout", "aten::feature_alpha_dropout_"};

bool isDropout(const torch::jit::Node& node) {
  const std::string_view kind = node.kind().toQualString();
  return std::find(kDropouts.begin(), kDropouts.end(), kind) != kDropouts.end();
}

}  // namespace

// PyTorch returns the input itself with train=False, so this changes nothing, in-place forms included.
bool removeDropout(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](torch::jit::Node* node) {
    if (isDropout(*node) && torch::jit::constant_as<bool>(node->input(2)) == false) {
      node->output()->replaceAllUsesWith(node->input(0));
      node->destroy();
      changed = true;
    }
  });
  return changed;
}

}  // namespace torchtrt::lowering
