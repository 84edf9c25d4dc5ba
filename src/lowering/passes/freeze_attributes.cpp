#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <map>
#include <set>

#include "lowering/pass.h"
#include "lowering/passes/passes.h"
#include "torchtrt/error.h"

// libtorch's freeze_module clones the module, keeps what "preserved" methods share, and differs between C++ and Python
// in what it runs afterwards. This is the part of it that is needed, on a copy of one method's graph; tensors are
// shared, never copied.

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using Attribute = std::pair<const c10::ivalue::Object*, std::string>;

// Constants of a graph do not take part in autograd.
IValue withoutGradient(IValue value) {
  if (value.isTensor()) {
    return value.toTensor().requires_grad() ? value.toTensor().detach() : value;
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      tensors.push_back(tensor.detach());
    }
    return tensors;
  }
  return value;
}

class AttributeFreezer {
 public:
  AttributeFreezer(GraphPtr graph, const torch::jit::Module& module, bool keep_state)
      : graph_(std::move(graph)), keep_state_(keep_state) {
    objects_[graph_->inputs()[0]] = {module._ivalue(), ""};
  }

  bool run() {
    // Folding what became constant may make writes unreachable, and calls through interfaces known.
    bool changed = true;
    while (changed) {
      inlineKnownCalls();
      resolveObjects();
      collectWritten();
      changed = replaceReads();
      torch::jit::ConstantPropagation(graph_);
      torch::jit::EliminateDeadCode(graph_);
    }
    if (keep_state_ && graph_->inputs()[0]->hasUses()) {
      return true;
    }
    requireNoModuleLeft();
    graph_->eraseInput(0);
    return false;
  }

 private:
  struct Object {
    c10::intrusive_ptr<c10::ivalue::Object> object;
    std::string path;
  };

  // A module behind an interface has its class only as a value; with the class as its type the call can be inlined.
  void inlineKnownCalls() {
    size_t calls = countCalls();
    torch::jit::Inline(*graph_);
    for (size_t left = countCalls(); left != 0 && left != calls; left = countCalls()) {
      calls = left;
      resolveObjects();
      for (auto& [value, object] : objects_) {
        const_cast<Value*>(value)->setType(object.object->type());
      }
      torch::jit::Inline(*graph_);
    }
  }

  size_t countCalls() {
    size_t calls = 0;
    forEachNode(graph_->block(), [&](Node* node) { calls += node->kind() == prim::CallMethod; });
    return calls;
  }

  void resolveObjects() {
    const Object self = objects_.at(graph_->inputs()[0]);
    objects_.clear();
    objects_[graph_->inputs()[0]] = self;
    resolveBlock(graph_->block());
  }

  void resolveBlock(torch::jit::Block* block) {
    for (Node* node : block->nodes()) {
      const auto owner = node->kind() == prim::GetAttr ? objects_.find(node->input()) : objects_.end();
      if (owner != objects_.end()) {
        const std::string name = node->s(torch::jit::attr::name);
        const IValue value = owner->second.object->getAttr(name);
        if (value.isObject()) {
          const std::string& path = owner->second.path;
          objects_[node->output()] = {value.toObject(), path.empty() ? name : path + "." + name};
        }
      }
      for (torch::jit::Block* inner : node->blocks()) {
        resolveBlock(inner);
      }
    }
  }

  // Attributes that the graph sets, or whose tensor it writes to.
  void collectWritten() {
    written_.clear();
    torch::jit::AliasDb aliases(graph_, /*isFrozen=*/true);
    forEachNode(graph_->block(), [&](Node* node) {
      const bool sets = node->kind() == prim::SetAttr;
      const bool mutated = node->kind() == prim::GetAttr && isMutable(*node->output()->type()) &&
                           !objects_.count(node->output()) && aliases.hasWriters(node->output());
      const auto owner = sets || mutated ? objects_.find(node->input(0)) : objects_.end();
      if (owner != objects_.end()) {
        written_.insert({owner->second.object.get(), node->s(torch::jit::attr::name)});
      }
    });
  }

  bool replaceReads() {
    bool changed = false;
    constants_.clear();  // those of an earlier round may have been folded away
    forEachNode(graph_->block(), [&](Node* node) {
      const auto owner = node->kind() == prim::GetAttr ? objects_.find(node->input()) : objects_.end();
      if (owner == objects_.end() || objects_.count(node->output())) {
        return;
      }
      const Attribute attribute{owner->second.object.get(), node->s(torch::jit::attr::name)};
      if (written_.count(attribute)) {
        return;
      }
      Value* constant =
          constantFor(attribute, owner->second.object->getAttr(attribute.second), *node, owner->second.path);
      if (constant) {
        node->output()->replaceAllUsesWith(constant);
        node->destroy();
        changed = true;
      }
    });
    return changed;
  }

  Value* constantFor(const Attribute& attribute, IValue value, Node& node, const std::string& path) {
    const auto known = constants_.find(attribute);
    if (known != constants_.end()) {
      return known->second;
    }
    value = withoutGradient(std::move(value));
    torch::jit::WithInsertPoint guard(*graph_->block()->nodes().begin());
    const auto constant = torch::jit::tryInsertConstant(*graph_, value, node.sourceRange(), node.scope());
    if (!constant) {
      return nullptr;
    }
    if ((*constant)->type()->isSubtypeOf(*c10::TensorType::get())) {
      (*constant)->setType(c10::TensorType::get());
      (*constant)->setDebugName("self." + (path.empty() ? "" : path + ".") + attribute.second);
    }
    constants_[attribute] = *constant;
    return *constant;
  }

  void requireNoModuleLeft() {
    if (!graph_->inputs()[0]->hasUses()) {
      return;
    }
    resolveObjects();
    collectWritten();
    std::string what = "the graph still refers to the module";
    Location location;
    forEachNode(graph_->block(), [&](Node* node) {
      const auto owner = node->inputs().empty() ? objects_.end() : objects_.find(node->input(0));
      if (owner == objects_.end() || objects_.count(node->outputs().empty() ? nullptr : node->output(0))) {
        return;
      }
      if (node->kind() == prim::GetAttr || node->kind() == prim::SetAttr) {
        const std::string name = node->s(torch::jit::attr::name);
        const std::string& path = owner->second.path;
        const bool written = written_.count({owner->second.object.get(), name}) != 0;
        what = "attribute '" + (path.empty() ? "" : path + ".") + name + "' " +
               (written ? "is written by the method"
                        : "is of type " + node->output()->type()->repr_str() + ", which cannot be a constant");
      }
      if (const auto line = node->sourceRange().file_line_col()) {
        location = {std::get<0>(*line), static_cast<int>(std::get<1>(*line)), static_cast<int>(std::get<2>(*line)), "",
                    owner->second.path};
      }
    });
    throw CompileError(ErrorCode::kInvalidModule, what, location,
                       "pass state in and out as tensors, so that the method depends on its inputs alone");
  }

  GraphPtr graph_;
  bool keep_state_;
  std::unordered_map<const Value*, Object> objects_;
  std::set<Attribute> written_;
  std::map<Attribute, Value*> constants_;
};

}  // namespace

bool freezeAttributes(const GraphPtr& graph, const torch::jit::Module& module, bool keep_state) {
  return AttributeFreezer(graph, module, keep_state).run();
}

}  // namespace torchtrt::lowering
