#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

// torch.jit.optimize_for_inference makes stretches of a graph work on tensors in oneDNN's own layouts, between
// to_mkldnn and to_dense. Engines choose layouts themselves: here the operators become those that the stretches were
// made of.

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace attr = torch::jit::attr;

bool is(const Node& node, const char* kind) {
  return node.kind() == c10::Symbol::fromQualString(kind);
}

class Leaving {
 public:
  explicit Leaving(Graph& graph) : graph_(graph) {}

  // True if it changed the node. Operands come before their readers, so oneDNN's are known.
  bool visit(Node* node) {
    if (is(*node, "aten::to_mkldnn") && torch::jit::toIValue(node->input(1)) == torch::jit::IValue()) {
      onednn_.insert(node->input(0));
      replace(node, {node->input(0)});
      return true;
    }
    if (is(*node, "prim::ConstantMKLDNNTensor")) {
      torch::jit::WithInsertPoint guard(node);
      Value* constant = graph_.insertConstant(node->t(attr::value).to_dense());
      onednn_.insert(constant);
      replace(node, {constant});
      return true;
    }
    const bool is_concerned = std::any_of(node->inputs().begin(), node->inputs().end(),
                                          [this](const Value* input) { return onednn_.count(input) != 0; });
    return is_concerned && visitConcerned(node);
  }

 private:
  bool visitConcerned(Node* node) {
    if (is(*node, "aten::to_dense")) {
      replace(node, {node->input(0)});
      return true;
    }
    if (is(*node, "prim::BroadcastMKLDNNTensors")) {  // what reads them broadcasts, too
      replace(node, node->inputs().vec());
      return true;
    }
    if (is(*node, "prim::mkldnn_convolution")) {
      return replaceConvolution(node);
    }
    // Nobody else reads the written operand: libtorch chooses the writing form only then.
    std::string kind = node->kind().toQualString();
    const bool writes = kind.back() == '_' && onednn_.count(node->input(0)) != 0;
    if (writes) {
      kind.pop_back();
    }
    static const std::map<std::string, const char*> functions = {
        {"prim::MKLDNNHardSwish", "aten::hardswish"}, {"prim::MKLDNNHardSigmoid", "aten::hardsigmoid"},
        {"prim::MKLDNNHardTanh", "aten::hardtanh"},   {"prim::MKLDNNClamp", "aten::clamp"},
        {"prim::MKLDNNScalarMul", "aten::mul"},       {"prim::MKLDNNLayerNorm", "aten::layer_norm"}};
    const auto function = functions.find(kind);
    if (function == functions.end() && !(writes && node->kind().is_aten())) {
      for (const Value* output : node->outputs()) {
        onednn_.insert(output);
      }
      return false;
    }
    replaceFunction(node, function == functions.end() ? kind : function->second);
    return true;
  }

  // The limits are attributes here, where others have operands.
  void replaceFunction(Node* node, const std::string& kind) {
    torch::jit::WithInsertPoint guard(node);
    std::vector<Value*> inputs = node->inputs().vec();
    for (const auto limit : {attr::min_val, attr::max_val}) {
      if (node->hasAttribute(limit)) {
        inputs.push_back(graph_.insertConstant(node->f(limit)));
      }
    }
    Node* function = graph_.create(c10::Symbol::fromQualString(kind), inputs)->insertBefore(node);
    finish(node, function);
  }

  bool replaceConvolution(Node* node) {
    const auto weight = torch::jit::toIValue(node->input(1));
    if (!weight || !weight->isTensor()) {
      return false;
    }
    const std::string kind = "aten::conv" + std::to_string(weight->toTensor().dim() - 2) + "d";
    Node* convolution = graph_.create(c10::Symbol::fromQualString(kind), node->inputs())->insertBefore(node);
    finish(node, convolution);
    return true;
  }

  void finish(Node* node, Node* replacement) {
    replacement->copyMetadata(node);
    replacement->output()->copyMetadata(node->output());
    onednn_.insert(replacement->output());
    replace(node, {replacement->output()});
  }

  void replace(Node* node, const std::vector<Value*>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      node->outputs()[i]->replaceAllUsesWith(values[i]);
    }
    node->destroy();
  }

  Graph& graph_;
  std::unordered_set<const Value*> onednn_;
};

}  // namespace

bool leaveOneDnnTensors(const GraphPtr& graph) {
  bool has_any = false;
  forEachNode(graph->block(), [&](Node* node) { has_any |= is(*node, "aten::to_mkldnn"); });
  bool changed = false;
  Leaving leaving(*graph);
  forEachNode(graph->block(), [&](Node* node) { changed |= has_any && leaving.visit(node); });
  return changed;
}

}  // namespace torchtrt::lowering
