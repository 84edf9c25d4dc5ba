#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/node_hashing.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libtorch/versions.h"
#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "lowering/passes/passes.h"

// One node for all that compute the same. libtorch's own pass compares every tensor among the constants with every
// other of its size, element by element and with all threads, which takes seconds for a network of some hundred
// weights. Here a few bytes of a tensor tell which others to compare it with.

namespace torchtrt::lowering {
namespace {

using torch::jit::AliasDb;
using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

constexpr size_t kSampledBytes = 64;  // of the beginning and of the end of a tensor

// The tensor of a constant; undefined for other nodes, and for tensors that are not plain bytes in memory.
at::Tensor plainTensorOf(const Node& node) {
  if (node.kind() != prim::Constant || !node.output()->type()->isSubtypeOf(*c10::TensorType::get())) {
    return {};
  }
  const auto value = torch::jit::toIValue(node.output());
  const at::Tensor tensor = value && value->isTensor() ? value->toTensor() : at::Tensor();
  const bool is_plain = tensor.defined() && tensor.layout() == at::kStrided && tensor.device().is_cpu() &&
                        !tensor.is_quantized() && !tensor.requires_grad() && !tensor.is_conj() && !tensor.is_neg() &&
                        !tensor._is_zerotensor() && !libtorch::hasNames(tensor) &&
                        tensor.is_non_overlapping_and_dense();
  return is_plain ? tensor : at::Tensor();
}

template <typename T>
void addBytes(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The same for tensors that hold the same. Only a filter: candidates are then compared in full.
std::string sampleOf(const at::Tensor& tensor) {
  std::string sample;
  addBytes(sample, tensor.scalar_type());
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    addBytes(sample, tensor.size(i));
    addBytes(sample, tensor.stride(i));
  }
  const size_t size = std::min(kSampledBytes, tensor.nbytes());
  if (size != 0) {
    const auto* bytes = static_cast<const char*>(tensor.const_data_ptr());
    sample.append(bytes, size).append(bytes + tensor.nbytes() - size, size);
  }
  return sample;
}

// True if tensors with the same dtype, sizes and strides hold the same bytes: 0.0 and -0.0 are equal and not the same.
bool holdTheSame(const at::Tensor& one, const at::Tensor& other, bool by_address) {
  const void* bytes = one.const_data_ptr();
  const void* others = other.const_data_ptr();
  return bytes == others || (!by_address && std::memcmp(bytes, others, one.nbytes()) == 0);
}

class Eliminator {
 public:
  Eliminator(GraphPtr graph, bool by_address) : graph_(std::move(graph)), by_address_(by_address) {}

  bool run() {
    eliminate(*graph_->block(), nullptr);
    return changed_;
  }

 private:
  // The nodes of a block that have been visited and stay; those of the blocks around it are visible, too.
  struct Scope {
    const Scope* outer;
    std::unordered_set<Node*, torch::jit::HashNode, torch::jit::EqualNode> nodes;
    std::map<std::string, std::vector<Node*>> tensors;
  };

  void eliminate(Block& block, const Scope* outer) {
    Scope scope{outer, {}, {}};
    for (auto it = block.nodes().begin(); it != block.nodes().end();) {
      Node* node = *it++;
      for (Block* inner : node->blocks()) {
        eliminate(*inner, &scope);
      }
      if (!node->blocks().empty() || node->outputs().empty() || node->kind() == prim::profile ||
          node->hasSideEffects() || node->isNondeterministic()) {
        continue;
      }
      const at::Tensor tensor = plainTensorOf(*node);
      Node* former = tensor.defined() ? formerTensor(*node, tensor, scope) : formerNode(*node, scope);
      if (former != nullptr && mayReplace(*node, *former)) {
        replace(*node, *former);
      }
    }
  }

  void replace(Node& node, Node& former) {
    if (isReturned(node)) {
      analysis_.reset();  // it does not know that the former is returned from now on
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      node.output(i)->replaceAllUsesWith(former.output(i));
      if (analysis_) {
        rename(analysis_->secrets, node.output(i), former.output(i));
      }
    }
    node.destroy();
    changed_ = true;
  }

  static void rename(SecretAliases& secrets, const Value* value, Value* replacement) {
    for (auto& [operand, result] : secrets) {
      operand = operand == value ? replacement : operand;
      result = result == value ? replacement : result;
    }
  }

  // The first node that computes the same. Null if there is none: then later nodes find this one.
  static Node* formerNode(Node& node, Scope& scope) {
    for (const Scope* each = &scope; each != nullptr; each = each->outer) {
      const auto found = each->nodes.find(&node);
      if (found != each->nodes.end()) {
        return *found;
      }
    }
    scope.nodes.insert(&node);
    return nullptr;
  }

  Node* formerTensor(Node& node, const at::Tensor& tensor, Scope& scope) const {
    const std::string sample = sampleOf(tensor);
    for (const Scope* each = &scope; each != nullptr; each = each->outer) {
      const auto found = each->tensors.find(sample);
      const std::vector<Node*> none;
      for (Node* former : found != each->tensors.end() ? found->second : none) {
        if (*former->output()->type() == *node.output()->type() &&
            holdTheSame(plainTensorOf(*former), tensor, by_address_)) {
          return former;
        }
      }
    }
    scope.tensors[sample].push_back(&node);
    return nullptr;
  }

  // Nobody may write to either, and two results of the graph stay two. A constant that is a result stays one that only
  // the caller has.
  bool mayReplace(Node& node, Node& former) {
    const bool is_constant = node.kind() == prim::Constant && isMutable(*node.output()->type());
    const bool shares_results =
        is_constant ? isReturned(node) || isReturned(former) : isReturned(node) && isReturned(former);
    return !shares_results && !isWritten(node) && !isWritten(former);
  }

  bool isWritten(const Node& node) {
    const Analysis& analysis = this->analysis();
    const auto is_written_secretly = [&](const Value* value) {
      const auto names = secretNamesOf(value, analysis.aliases, analysis.secrets);
      return std::any_of(names.begin(), names.end(),
                         [&](const Value* name) { return analysis.aliases.hasWriters(name); });
    };
    const auto inputs = node.inputs();
    const auto outputs = node.outputs();
    return analysis.aliases.hasInputWriters(&node) || analysis.aliases.hasOutputWriters(&node) ||
           std::any_of(inputs.begin(), inputs.end(), is_written_secretly) ||
           std::any_of(outputs.begin(), outputs.end(), is_written_secretly);
  }

  bool isReturned(Node& node) {
    return analysis().aliases.mayContainAlias(node.outputs(), graph_->outputs());
  }

  struct Analysis {
    AliasDb aliases;
    SecretAliases secrets;
  };

  const Analysis& analysis() {
    if (!analysis_) {
      analysis_ = std::unique_ptr<Analysis>(new Analysis{aliasesOf(graph_), secretAliasesOf(*graph_)});
    }
    return *analysis_;
  }

  GraphPtr graph_;
  bool by_address_;
  std::unique_ptr<Analysis> analysis_;  // made when it is first asked for; replacements keep what it says true
  bool changed_ = false;
};

}  // namespace

bool eliminateCommonSubexpressions(const GraphPtr& graph) {
  return Eliminator(graph, /*by_address=*/false).run();
}

bool eliminateCommonSubexpressionsByAddress(const GraphPtr& graph) {
  return Eliminator(graph, /*by_address=*/true).run();
}

}  // namespace torchtrt::lowering
