#include <algorithm>
#include <map>
#include <set>

#include "base/logging.h"
#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/quantization.h"

// Quantized operators become plain float operators on centered integers, to the bit: see quantization.h for the form,
// and the families' files for how each operator is written. A region of connected operators changes as a whole, from
// what quantizes to what dequantizes, or not at all: no quantized tensor crosses its border.

namespace torchtrt::lowering {
namespace {

using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

class QuantizedLowering {
 public:
  explicit QuantizedLowering(const GraphPtr& graph) : builder_(*graph) {
    forEachNode(graph->block(), [this](Node* node) { add(node); });
  }

  bool run() {
    keepClosedRegions();
    std::vector<Node*> replaced;
    for (Node* node : order_) {
      if (rules_.count(node)) {
        replace(node, rules_.at(node));
        replaced.push_back(node);
      }
    }
    for (auto node = replaced.rbegin(); node != replaced.rend(); ++node) {
      const std::vector<Value*> inputs = (*node)->inputs().vec();
      (*node)->destroy();
      for (Value* input : inputs) {
        if (input->node()->kind() == torch::jit::prim::ListConstruct && !input->hasUses()) {
          input->node()->destroy();
        }
      }
    }
    return !replaced.empty();
  }

 private:
  void add(Node* node) {
    auto rule = quantizedRuleOf(node, known_);
    if (!rule) {
      return;
    }
    order_.push_back(node);
    region_[node] = node;
    for (Value* input : rule->inputs) {
      region_[regionOf(input->node())] = regionOf(node);
    }
    for (Value* output : node->outputs()) {
      if (rule->result) {
        known_.emplace(output, *rule->result);
      }
    }
    rules_.emplace(node, std::move(*rule));
  }

  Node* regionOf(Node* node) {
    while (region_.at(node) != node) {
      node = region_.at(node);
    }
    return node;
  }

  // True if the use is replaced, possibly by way of a list.
  bool isReplaced(const Use& use, const Value* value) const {
    const auto takes = [&](const Node* user) {
      const auto rule = rules_.find(const_cast<Node*>(user));
      return rule != rules_.end() &&
             std::find(rule->second.inputs.begin(), rule->second.inputs.end(), value) != rule->second.inputs.end();
    };
    if (use.user->kind() != torch::jit::prim::ListConstruct) {
      return takes(use.user);
    }
    const auto& uses = use.user->output()->uses();
    return std::all_of(uses.begin(), uses.end(), [&](const Use& each) { return takes(each.user); });
  }

  static void tell(const Node& user) {
    TORCHTRT_LOG(kWARNING, "quantized operators stay quantized before " << user.kind().toQualString() << " at "
                                                                        << user.sourceRange().str());
  }

  void keepClosedRegions() {
    std::set<const Node*> open;
    for (const auto& [node, rule] : rules_) {
      for (const Value* output : node->outputs()) {
        for (const Use& use : rule.result ? output->uses() : std::vector<Use>()) {
          if (!isReplaced(use, output)) {
            open.insert(regionOf(node));
            tell(*use.user);
          }
        }
      }
    }
    for (auto rule = rules_.begin(); rule != rules_.end();) {
      rule = open.count(regionOf(rule->first)) ? rules_.erase(rule) : std::next(rule);
    }
  }

  void replace(Node* node, const QuantizedRule& rule) {
    std::vector<Value*> inputs;
    for (Value* input : rule.inputs) {
      inputs.push_back(centered_.at(input));
    }
    const torch::jit::WithInsertPoint before(node);
    Node* previous = node->prev();
    const std::vector<Value*> outputs = rule.build(builder_, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (rule.result) {
        centered_[node->output(i)] = outputs[i];
      } else {
        node->output(i)->replaceAllUsesWith(outputs[i]);
      }
    }
    for (Node* created = previous->next(); created != node;) {
      Node* next = created->next();
      if (created->kind() == torch::jit::prim::Constant && !created->hasUses()) {
        created->destroy();  // made for an overload that did not fit
      } else {
        created->copyMetadata(node);
      }
      created = next;
    }
  }

  FloatBuilder builder_;
  QuantizedValues known_;
  std::vector<Node*> order_;  // those with a rule
  std::map<Node*, QuantizedRule> rules_;
  std::map<Node*, Node*> region_;  // to another node of the same region, or the node that stands for it
  std::unordered_map<const Value*, Value*> centered_;
};

}  // namespace

bool lowerQuantized(const GraphPtr& graph) {
  const at::NoGradGuard no_grad;  // the bias of packed weights is a parameter, and constants have no gradient
  return QuantizedLowering(graph).run();
}

}  // namespace torchtrt::lowering
