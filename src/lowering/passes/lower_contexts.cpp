#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/lowering.h"
#include "lowering/passes/passes.h"

// `with` is an object that is made, Enter and Exit, and only the object's class says what holds in between:
//
//     %c = prim::CreateObject()
//      = prim::SetAttr[name="device"](%c, %cpu)
//     %e = prim::Enter(%c)
//     %y = aten::linear(%x, %w, %b)            ->    %y = aten::linear(cast(%x), cast(%w), cast(%b))
//     %o = prim::Exit(%c)
//
// Where the meaning is known, the nodes in between say it themselves. The others stay, and nothing moves across them.

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

enum class Meaning { kUnknown, kAutocast, kNoGradient, kProfile };

Meaning meaningOf(const c10::Type& type) {
  const auto* made = type.castRaw<c10::ClassType>();
  std::string name;
  for (const std::string& atom : made && made->name() ? made->name()->atoms() : std::vector<std::string>()) {
    if (atom.rfind("___torch_mangle", 0) != 0) {
      name += (name.empty() ? "" : ".") + atom;
    }
  }
  static const std::set<std::string> kAutocasts = {"__torch__.torch.amp.autocast_mode.autocast",
                                                   "__torch__.torch.cpu.amp.autocast_mode.autocast",
                                                   "__torch__.torch.cuda.amp.autocast_mode.autocast"};
  static const std::set<std::string> kNoGradients = {"__torch__.torch.autograd.grad_mode.no_grad",
                                                     "__torch__.torch.autograd.grad_mode.inference_mode"};
  if (kAutocasts.count(name) != 0) {
    return Meaning::kAutocast;
  }
  if (kNoGradients.count(name) != 0) {
    return Meaning::kNoGradient;
  }
  return name == "__torch__.torch.autograd.profiler.record_function" ? Meaning::kProfile : Meaning::kUnknown;
}

// The nodes of one `with`.
struct Context {
  Node* enter = nullptr;
  Node* exit = nullptr;
  std::vector<Node*> writes;  // of the object's attributes

  Value* object() const {
    return enter->input();
  }
};

// Nothing where the object is used in another way, or twice.
std::optional<Context> contextOf(Node* enter) {
  Context context{enter, nullptr, {}};
  const bool is_made_here = enter->input()->node()->kind() == prim::CreateObject;
  if (!is_made_here || (!enter->outputs().empty() && enter->output()->hasUses())) {
    return std::nullopt;
  }
  for (const Use& use : enter->input()->uses()) {
    if (use.user->kind() == prim::SetAttr && use.offset == 0) {
      context.writes.push_back(use.user);
    } else if (use.user->kind() == prim::Exit && context.exit == nullptr &&
               use.user->owningBlock() == enter->owningBlock()) {
      context.exit = use.user;
    } else if (use.user != enter) {
      return std::nullopt;
    }
  }
  return context.exit == nullptr || context.exit->hasUses() ? std::nullopt : std::optional(context);
}

template <typename Predicate>
bool anyNodeInside(const Context& context, const Predicate& predicate) {
  bool found = false;
  for (Node* node = context.enter->next(); node != context.exit; node = node->next()) {
    found = found || predicate(*node);
    for (Block* inner : node->blocks()) {
      forEachNode(inner, [&](Node* each) { found = found || predicate(*each); });
    }
  }
  return found;
}

bool isCall(const Node& node) {
  return node.kind() == prim::CallMethod || node.kind() == prim::CallFunction || node.kind() == prim::fork;
}

// The constant that the object's attribute is set to.
template <typename T>
std::optional<T> constantAttribute(const Context& context, const std::string& name) {
  for (const Node* write : context.writes) {
    if (write->s(torch::jit::attr::name) == name) {
      return torch::jit::constant_as<T>(write->input(1));
    }
  }
  return std::nullopt;
}

// True if libtorch's pass takes the context; it throws at the rest.
bool canCast(const Context& context) {
  return constantAttribute<bool>(context, "_enabled") && constantAttribute<std::string>(context, "device") &&
         !anyNodeInside(context, isCall);
}

// Writes to tensors or attributes: without gradients they are allowed where they else are not, and leave no history.
bool writesTensor(const Node& node) {
  const auto* schema = node.maybeSchema();
  return (schema && schema->is_mutable()) || (node.kind() == prim::SetAttr && isTensor(*node.input(1)));
}

// True if nothing in the context can see that gradients are off.
bool isLikeWithout(const Context& context) {
  static const auto kSetGradient = c10::Symbol::fromQualString("aten::set_grad_enabled");
  return !anyNodeInside(context, [](const Node& node) { return isCall(node) || writesTensor(node); }) &&
         !anyNodeInside(context, [](const Node& node) { return node.kind() == kSetGradient; });
}

void drop(const Context& context) {
  static const auto kDtypeQuestion = c10::Symbol::fromQualString("aten::get_autocast_dtype");
  Node* object = context.object()->node();
  context.exit->destroy();
  context.enter->destroy();
  for (Node* write : context.writes) {
    Node* question = write->input(1)->node();
    write->destroy();
    if (question->kind() == kDtypeQuestion && !question->hasUses()) {
      question->destroy();  // which is taken for one with effects
    }
  }
  object->destroy();
}

// Answers `torch.is_grad_enabled()` in the context.
void answerNo(const Context& context, Graph& graph) {
  static const auto kQuestion = c10::Symbol::fromQualString("aten::is_grad_enabled");
  std::vector<Node*> questions;
  anyNodeInside(context, [&](Node& node) {
    if (node.kind() == kQuestion) {
      questions.push_back(&node);
    }
    return false;
  });
  for (Node* question : questions) {
    const torch::jit::WithInsertPoint guard(question);
    question->output()->replaceAllUsesWith(graph.insertConstant(false));
    question->destroy();
  }
}

std::vector<Context> contextsOf(Graph& graph, Meaning meaning) {
  std::vector<Context> contexts;
  forEachNode(graph.block(), [&](Node* node) {
    if (node->kind() == prim::Enter && meaningOf(*node->input()->type()) == meaning) {
      if (auto context = contextOf(node)) {
        contexts.push_back(*context);
      }
    }
  });
  return contexts;
}

size_t countEntered(Graph& graph, Meaning meaning) {
  size_t count = 0;
  forEachNode(graph.block(), [&](Node* node) {
    count += node->kind() == prim::Enter && meaningOf(*node->input()->type()) == meaning ? 1 : 0;
  });
  return count;
}

// libtorch's pass is what PyTorch runs, so its rules are right by themselves. It takes all of a graph or nothing.
bool castAutomatically(const GraphPtr& graph) {
  if (countEntered(*graph, Meaning::kAutocast) == 0) {
    return false;
  }
  GraphPtr mutable_graph = graph;
  torch::jit::ConstantPropagationImmutableTypes(mutable_graph);  // what is enabled, and where
  const std::vector<Context> contexts = contextsOf(*graph, Meaning::kAutocast);
  if (contexts.size() != countEntered(*graph, Meaning::kAutocast) ||
      !std::all_of(contexts.begin(), contexts.end(), canCast)) {
    return false;
  }
  torch::jit::Autocast(graph);
  for (const Context& context : contexts) {
    drop(context);
  }
  return true;
}

bool removeNoGradients(Graph& graph) {
  bool changed = false;
  for (const Context& context : contextsOf(graph, Meaning::kNoGradient)) {
    if (isLikeWithout(context)) {
      answerNo(context, graph);
      drop(context);
      changed = true;
    }
  }
  return changed;
}

bool removeProfiles(Graph& graph) {
  const std::vector<Context> contexts = contextsOf(graph, Meaning::kProfile);
  for (const Context& context : contexts) {
    drop(context);
  }
  return !contexts.empty();
}

}  // namespace

bool entersAutocast(const torch::jit::Module& module, const std::string& method) {
  const GraphPtr graph = module.get_method(method).graph()->copy();
  inlineMethods(graph);
  torch::jit::Inline(*graph);
  return countEntered(*graph, Meaning::kAutocast) != 0;
}

bool lowerContexts(const GraphPtr& graph) {
  bool changed = removeProfiles(*graph);
  changed |= castAutomatically(graph);
  changed |= removeNoGradients(*graph);
  return changed;
}

}  // namespace torchtrt::lowering
