#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "lowering/memory/write_origins.h"
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

// Weights of quantized operators are objects that no operator writes to. They are constants where lower_quantized needs
// them; else they stay attributes, which are saved once.
bool isPackedWeight(const IValue& value) {
  return value.isCustomClass() && value.type()->str().rfind("__torch__.torch.classes.quantized.", 0) == 0;
}

class AttributeFreezer {
 public:
  // `kept` are attributes that others write.
  AttributeFreezer(GraphPtr graph, const torch::jit::Module& module, bool keep_state, std::set<Attribute> kept)
      : graph_(std::move(graph)), keep_state_(keep_state), kept_(std::move(kept)) {
    objects_[graph_->inputs()[0]] = {module._ivalue(), ""};
  }

  // After run(): what is written, here or by others.
  const std::set<Attribute>& written() const {
    return written_;
  }

  bool run() {
    // Folding what became constant may make writes unreachable, and calls through interfaces known.
    bool changed = true;
    while (changed) {
      inlineKnownCalls();
      resolveObjects();
      collectWritten();
      changed = replaceReads();
      lowerContexts(graph_);      // or the next lines compute in float32 what autocast casts
      sinkConstructions(graph_);  // or they drop writes that show
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
    inlineMethods(graph_);
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
        if (value.isObject() && (keep_state_ || !isPackedWeight(value))) {
          const std::string& path = owner->second.path;
          objects_[node->output()] = {value.toObject(), path.empty() ? name : path + "." + name};
        }
      }
      for (torch::jit::Block* inner : node->blocks()) {
        resolveBlock(inner);
      }
    }
  }

  // Returns the statistics that normalizations write to while training. The alias analysis of frozen graphs takes them
  // for never written.
  std::vector<Value*> runningStatistics() {
    static const auto kInstanceNorm = c10::Symbol::fromQualString("aten::instance_norm");
    std::vector<Value*> statistics;
    forEachNode(graph_->block(), [&](Node* node) {
      const bool is_batch_norm = node->kind() == torch::jit::aten::batch_norm;
      if (!is_batch_norm && node->kind() != kInstanceNorm) {
        return;
      }
      const auto trains = torch::jit::toIValue(node->namedInput(is_batch_norm ? "training" : "use_input_stats"));
      if (!trains || trains->toBool()) {
        statistics.push_back(node->namedInput("running_mean"));
        statistics.push_back(node->namedInput("running_var"));
      }
    });
    return statistics;
  }

  // Returns a predicate for values that nodes read from attributes and others write to.
  std::function<bool(Value*)> mutatedReads() {
    const std::vector<Value*> statistics = runningStatistics();
    if (const auto reads = writtenReads(*graph_, statistics)) {
      return [reads = *reads](Value* value) { return reads.count(value) != 0; };
    }
    const auto aliases =
        std::shared_ptr<torch::jit::AliasDb>(new torch::jit::AliasDb(aliasesOf(graph_, /*is_frozen=*/true)));
    return [aliases, statistics](Value* value) {
      return aliases->hasWriters(value) || std::any_of(statistics.begin(), statistics.end(),
                                                       [&](Value* each) { return aliases->mayAlias(each, value); });
    };
  }

  // Attributes that the graph sets, or whose tensor it writes to, and what lies in the same memory.
  void collectWritten() {
    written_ = kept_;
    const std::function<bool(Value*)> is_mutated = mutatedReads();
    forEachNode(graph_->block(), [&](Node* node) {
      const bool sets = node->kind() == prim::SetAttr;
      const bool mutated = node->kind() == prim::GetAttr && isMutable(*node->output()->type()) &&
                           !objects_.count(node->output()) && is_mutated(node->output());
      const auto owner = sets || mutated ? objects_.find(node->input(0)) : objects_.end();
      if (owner != objects_.end()) {
        written_.insert({owner->second.object.get(), node->s(torch::jit::attr::name)});
      }
    });
    const std::set<Attribute> written = written_;
    forEachNode(graph_->block(), [&](Node* node) {
      const auto owner = node->kind() == prim::GetAttr ? objects_.find(node->input()) : objects_.end();
      if (owner == objects_.end() || objects_.count(node->output())) {
        return;
      }
      const Attribute attribute{owner->second.object.get(), node->s(torch::jit::attr::name)};
      const IValue value = attribute.first->getAttr(attribute.second);
      if (std::any_of(written.begin(), written.end(),
                      [&value](const Attribute& each) { return each.first->getAttr(each.second).overlaps(value); })) {
        written_.insert(attribute);
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
      if (written_.count(attribute) || isDifferentiated(attribute.first->getAttr(attribute.second))) {
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

  // Constants have no gradient.
  bool isDifferentiated(const IValue& value) const {
    return keep_state_ && value.isTensor() && value.toTensor().requires_grad() && computesGradients(*graph_);
  }

  Value* constantFor(const Attribute& attribute, IValue value, Node& node, const std::string& path) {
    const auto known = constants_.find(attribute);
    if (known != constants_.end()) {
      return known->second;
    }
    value = withoutGradient(std::move(value));
    if (isPackedWeight(value)) {  // one that was loaded holds the code it came with, which no constant may
      value = value.toObject()->copy_to_weak_compilation_ref();
    }
    torch::jit::WithInsertPoint guard(*graph_->block()->nodes().begin());
    const auto constant = torch::jit::tryInsertConstant(*graph_, value, node.sourceRange(), node.scope());
    if (!constant) {
      return nullptr;
    }
    if (isTensor(**constant)) {
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
  std::set<Attribute> kept_;
  std::unordered_map<const Value*, Object> objects_;
  std::set<Attribute> written_;
  std::map<Attribute, Value*> constants_;
};

// Attributes that methods other than this one write.
std::set<Attribute> writtenByOthers(const torch::jit::Module& module, const std::string& method) {
  std::set<Attribute> written;
  size_t known = 0;
  do {
    known = written.size();
    for (torch::jit::Function* other : module.type()->methods()) {
      if (other->name() != method) {
        AttributeFreezer freezer(torch::jit::toGraphFunction(*other).graph()->copy(), module, true, written);
        freezer.run();
        written = freezer.written();
      }
    }
  } while (written.size() != known);
  return written;
}

}  // namespace

bool freezeAttributes(const GraphPtr& graph, const torch::jit::Module& module, const std::string& method,
                      bool keep_state) {
  std::set<Attribute> kept = keep_state ? writtenByOthers(module, method) : std::set<Attribute>();
  return AttributeFreezer(graph, module, keep_state, std::move(kept)).run();
}

}  // namespace torchtrt::lowering
