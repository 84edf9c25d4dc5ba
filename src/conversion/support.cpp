#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "conversion/collections.h"
#include "conversion/complex/complex.h"
#include "conversion/conversion.h"
#include "conversion/evaluators/evaluators.h"
#include "conversion/value_refusals.h"
#include "lowering/graph_walk.h"

namespace torchtrt::conversion {
namespace {

using lowering::holdsTensors;
using lowering::isTensor;
using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// Questions that shapes and dtypes answer, or that have one answer in every engine, whatever the values are.
bool asksForType(const Node& node) {
  static const std::set<std::string> kinds = {"aten::size",
                                              "aten::dim",
                                              "aten::numel",
                                              "aten::len",
                                              "prim::dtype",
                                              "prim::device",
                                              "aten::is_floating_point",
                                              "aten::__is__",
                                              "aten::__isnot__",
                                              "prim::is_complex",
                                              "aten::is_complex",
                                              "aten::sym_size",
                                              "aten::sym_numel",
                                              "prim::shape",
                                              "prim::requires_grad",
                                              "prim::is_nested",
                                              "prim::layout",
                                              "prim::is_sparse",
                                              "prim::is_sparse_csr",
                                              "prim::is_quantized",
                                              "prim::is_mkldnn",
                                              "prim::is_cuda",
                                              "prim::is_cpu",
                                              "prim::is_meta",
                                              "prim::is_mps",
                                              "prim::is_xpu",
                                              "aten::is_autocast_enabled",
                                              "aten::is_grad_enabled"};
  return kinds.count(node.kind().toQualString()) != 0;
}

// Tells if values follow from constants, shapes and dtypes. The answer is yes if it takes types that only the walk has:
// the walk refuses what turns out to be unknown.
class KnownValues {
 public:
  bool holds(const Value& value) {
    const auto [entry, is_new] = known_.emplace(&value, true);  // on a cycle, through a loop: as far as the rest is
    if (!is_new) {
      return entry->second;
    }
    const bool known = decide(value);
    known_[&value] = known;
    return known;
  }

 private:
  bool decide(const Value& value) {
    const Node& node = *value.node();
    if (node.kind() == prim::Constant || node.kind() == prim::Uninitialized) {
      return true;
    }
    if (node.kind() == prim::Param) {
      return isKnownInLoop(value);
    }
    if (node.kind() == prim::If) {
      return holds(*node.input()) && holds(*node.blocks()[0]->outputs()[value.offset()]) &&
             holds(*node.blocks()[1]->outputs()[value.offset()]);
    }
    if (node.kind() == prim::Loop) {
      const Block& body = *node.blocks()[0];
      return holds(*node.inputs()[0]) && holds(*node.inputs()[1]) && holds(*body.outputs()[0]) &&
             holds(*node.inputs()[value.offset() + 2]) && holds(*body.outputs()[value.offset() + 1]);
    }
    return follows(node);
  }

  // A loop's first block input is the number of the trip, which is known where the number of trips is.
  bool isKnownInLoop(const Value& value) {
    const Node* loop = value.node()->owningBlock()->owningNode();
    return loop && loop->kind() == prim::Loop && (value.offset() == 0 || holds(*loop->inputs()[value.offset() + 1]));
  }

  bool follows(const Node& node) {
    if (asksForType(node)) {
      return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* input) {
        return isTensor(*input) || input->node()->kind() == prim::ListConstruct || holds(*input);
      });
    }
    const auto* schema = node.maybeSchema();
    if ((!schema && !movesElements(node)) || (schema && schema->is_mutable()) || node.isNondeterministic() ||
        node.hasSideEffects()) {
      return false;
    }
    return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* input) { return holds(*input); });
  }

  std::unordered_map<const Value*, bool> known_;
};

bool isKnown(const Value& value) {
  return KnownValues().holds(value);
}

// Why a node cannot be converted: refusalOf or refusalOfWhole.
using Question = std::optional<Refusal> (*)(const Node& node);

std::optional<Refusal> refusalOfBlock(const Block& block, Question question) {
  for (const Node* node : block.nodes()) {
    if (node->kind() == prim::RaiseException) {
      continue;
    }
    if (auto refusal = question(*node)) {
      return refusal;
    }
  }
  return std::nullopt;
}

std::optional<Refusal> refusalOfIf(const Node& node, Question question) {
  if (!isKnown(*node.input())) {
    return Refusal{"control-flow", "the branch depends on data"};
  }
  // Only the walk knows which branch is taken: one that converts is enough.
  const auto refusal = refusalOfBlock(*node.blocks()[0], question);
  return refusal ? refusalOfBlock(*node.blocks()[1], question) : refusal;
}

std::optional<Refusal> refusalOfLoop(const Node& node, Question question) {
  const Block& body = *node.blocks()[0];
  if (!isKnown(*node.inputs()[0]) || !isKnown(*node.inputs()[1]) || !isKnown(*body.outputs()[0])) {
    return Refusal{"control-flow", "the number of trips is not known while compiling"};
  }
  return refusalOfBlock(body, question);
}

// Numbers made from a tensor's elements, which only exist at run time.
bool readsData(const Node& node) {
  const bool makes_tensors = std::any_of(node.outputs().begin(), node.outputs().end(),
                                         [](const Value* output) { return holdsTensors(output->type()); });
  const bool takes_tensors = std::any_of(node.inputs().begin(), node.inputs().end(),
                                         [](const Value* input) { return holdsTensors(input->type()); });
  return takes_tensors && !makes_tensors && !node.outputs().empty();
}

// Recurrent layers are said to be random for the dropout between their layers, whether or not there is any.
enum class Dropout : uint8_t { kNoSuchArgument, kNone, kSome };

Dropout dropoutOf(const Node& node) {
  if (!node.maybeSchema() || !node.schema().argumentIndexWithName("dropout")) {
    return Dropout::kNoSuchArgument;
  }
  const auto is_constant = [&node](const char* name, const auto& value) {
    const auto index = node.schema().argumentIndexWithName(name);
    const auto constant = index ? torch::jit::toIValue(node.input(*index)) : std::nullopt;
    return constant && *constant == torch::jit::IValue(value);
  };
  return is_constant("train", false) || is_constant("dropout", 0.0) ? Dropout::kNone : Dropout::kSome;
}

// Moves tensors between lists: which ones is known.
bool movesTensors(const Node& node) {
  static const std::set<std::string> kinds = {"aten::__getitem__", "aten::slice", "aten::add", "aten::list"};
  const auto is_list = [](const Value* value) {
    return value->type()->kind() == c10::TypeKind::ListType && holdsTensors(value->type());
  };
  return kinds.count(node.kind().toQualString()) != 0 && is_list(node.input(0)) &&
         std::all_of(node.inputs().begin() + 1, node.inputs().end(),
                     [&](const Value* input) { return is_list(input) || isKnown(*input); });
}

bool isEvaluated(const Node& node) {
  if (movesTensors(node)) {
    return true;
  }
  const bool by_name = evaluators::EvaluatorRegistry::instance().find(node) != nullptr;
  if (by_name && node.kind().is_prim() && node.kind() != prim::RaiseException) {
    return true;
  }
  return std::all_of(node.outputs().begin(), node.outputs().end(),
                     [&](const Value* output) { return isKnown(*output); });
}

// Operators that put elements into collections pass complex ones on, too.
std::optional<Refusal> refusalOfConstants(const Node& node) {
  const bool takes_complex = complex::takes(node) || movesElements(node);
  for (const Value* input : node.inputs()) {
    const auto constant = torch::jit::toIValue(input);
    const auto refusal = constant ? refusalOfValue(*constant) : std::nullopt;
    if (refusal && !(takes_complex && refusal->code == kComplex.code)) {
      return Refusal{refusal->code, std::string(node.kind().toQualString()) + ": " + refusal->reason};
    }
  }
  return std::nullopt;
}

// Refuses the remaining attributes: those that are written to, and objects such as the packed weights of quantized
// modules.
Refusal refusalOfAttribute(const Node& node) {
  const std::string attribute = "attribute '" + node.s(torch::jit::attr::name) + "'";
  const auto type = node.kind() == prim::GetAttr ? node.output()->type()->cast<c10::ClassType>() : nullptr;
  return type ? Refusal{"state", attribute + " is an object, of " + type->name()->name()}
              : Refusal{"state", attribute + " changes from call to call"};
}

}  // namespace

std::optional<Refusal> refusalOf(const Node& node) {
  const std::string kind = node.kind().toQualString();
  const auto* schema = node.maybeSchema();
  if (node.kind() == prim::If) {
    return refusalOfIf(node, refusalOf);
  }
  if (node.kind() == prim::Loop) {
    return refusalOfLoop(node, refusalOf);
  }
  if (node.kind() == prim::GetAttr || node.kind() == prim::SetAttr) {
    return refusalOfAttribute(node);
  }
  if (auto refusal = refusalOfConstants(node)) {
    return refusal;
  }
  const Refusal random = {"random", kind + " gives different results at every call"};
  if (dropoutOf(node) == Dropout::kSome) {
    return random;
  }
  if (NodeConverterRegistry::instance().has(node) || complex::has(node) || asksForType(node)) {
    return std::nullopt;
  }
  if (schema && schema->is_mutable()) {
    return Refusal{"mutation", kind + " writes to its operand, which others may see"};
  }
  if (node.hasSideEffects()) {
    return Refusal{"side-effects", kind + " has effects beside its results"};
  }
  if (node.isNondeterministic() && dropoutOf(node) == Dropout::kNoSuchArgument) {
    return random;
  }
  if (isEvaluated(node)) {
    return std::nullopt;
  }
  const bool evaluator = evaluators::EvaluatorRegistry::instance().find(node) != nullptr;
  if (readsData(node)) {
    return Refusal{"data-dependent", kind + " needs elements of a tensor while compiling"};
  }
  const bool numbers_only = schema && std::none_of(node.outputs().begin(), node.outputs().end(),
                                                   [](const Value* output) { return holdsTensors(output->type()); });
  if (numbers_only || (evaluator && (kind == "aten::detach" || kind == "aten::contiguous" || kind == "aten::alias"))) {
    return std::nullopt;
  }
  return Refusal{"no-converter", "no converter is registered for " + kind};
}

std::optional<Refusal> refusalOfWhole(const Node& node) {
  if (node.kind() == prim::If) {
    return refusalOfIf(node, refusalOfWhole);
  }
  if (node.kind() == prim::Loop) {
    return refusalOfLoop(node, refusalOfWhole);
  }
  return node.kind() == torch::jit::aten::warn ? std::nullopt : refusalOf(node);
}

std::unordered_set<const Value*> complexValues(const Block& block) {
  return complex::valuesOf(block);
}

std::optional<Refusal> refusalOfComplex(const Node& node, const std::unordered_set<const Value*>& complex_values) {
  static const std::set<std::string> passing = {"aten::__getitem__", "aten::append",     "aten::detach",
                                                "aten::alias",       "aten::contiguous", "aten::resolve_conj",
                                                "aten::resolve_neg"};
  const std::string kind = node.kind().toQualString();
  const bool takes_any =
      !node.kind().is_aten() || complex::takes(node) || asksForType(node) || passing.count(kind) != 0;
  const bool is_concerned = std::any_of(node.inputs().begin(), node.inputs().end(),
                                        [&](const Value* value) { return complex_values.count(value) != 0; });
  return is_concerned && !takes_any
             ? std::optional(Refusal{"complex", "no converter of " + kind + " takes complex numbers"})
             : std::nullopt;
}

}  // namespace torchtrt::conversion
