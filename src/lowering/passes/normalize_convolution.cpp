#include <torch/csrc/jit/ir/constants.h>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

// convNd and conv_transposeNd are the forms to end in, not _convolution, since they also take inputs without a batch
// dimension: a node that stays in PyTorch must still take what the original took.

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

std::optional<at::Tensor> constantTensor(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isTensor() ? std::optional(constant->toTensor()) : std::nullopt;
}

void replace(Node* node, const std::string& kind, const std::vector<Value*>& inputs) {
  Node* replacement = node->owningGraph()->create(c10::Symbol::fromQualString(kind), inputs)->insertBefore(node);
  replacement->copyMetadata(node);
  replacement->output()->copyMetadata(node->output());
  node->output()->replaceAllUsesWith(replacement->output());
  node->destroy();
}

// convolution and _convolution: input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...
bool normalizeGeneral(Node* node) {
  const auto weight = constantTensor(node->input(1));
  const auto transposed = torch::jit::constant_as<bool>(node->input(6));
  if (!weight || !transposed || weight->dim() < 3 || weight->dim() > 5) {
    return false;
  }
  const std::string dimensions = std::to_string(weight->dim() - 2) + "d";
  const auto in = node->inputs().vec();
  if (*transposed) {
    replace(node, "aten::conv_transpose" + dimensions, {in[0], in[1], in[2], in[3], in[4], in[7], in[8], in[5]});
  } else {
    replace(node, "aten::conv" + dimensions, {in[0], in[1], in[2], in[3], in[4], in[5], in[8]});
  }
  return true;
}

// The numbers that padding="valid" or "same" stands for; "same" with an even kernel pads one side more, which no number
// says.
std::optional<std::vector<int64_t>> paddingOf(const Node& node) {
  const auto text = torch::jit::constant_as<std::string>(node.input(4));
  const auto weight = constantTensor(node.input(1));
  const auto dilation = torch::jit::toIValue(node.input(5));
  if (!text || !weight || !dilation) {
    return std::nullopt;
  }
  std::vector<int64_t> padding(static_cast<size_t>(weight->dim() - 2), 0);
  if (*text == "valid") {
    return padding;
  }
  const auto dilations = dilation->toIntVector();
  for (size_t i = 0; i < padding.size(); ++i) {
    const int64_t total = dilations[dilations.size() == 1 ? 0 : i] * (weight->size(static_cast<int64_t>(i) + 2) - 1);
    if (total % 2 != 0) {
      return std::nullopt;
    }
    padding[i] = total / 2;
  }
  return padding;
}

bool normalizeNamedPadding(Node* node) {
  const auto padding = paddingOf(*node);
  if (!padding) {
    return false;
  }
  torch::jit::WithInsertPoint guard(node);
  std::vector<Value*> inputs = node->inputs().vec();
  inputs[4] = node->owningGraph()->insertConstant(*padding);
  replace(node, node->kind().toQualString(), inputs);
  return true;
}

}  // namespace

bool normalizeConvolution(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    const std::string kind = node->kind().toQualString();
    if (kind == "aten::_convolution" || kind == "aten::convolution") {
      changed |= normalizeGeneral(node);
    } else if ((kind == "aten::conv1d" || kind == "aten::conv2d" || kind == "aten::conv3d") &&
               node->input(4)->type()->kind() == c10::TypeKind::StringType) {
      changed |= normalizeNamedPadding(node);
    }
  });
  return changed;
}

}  // namespace torchtrt::lowering
