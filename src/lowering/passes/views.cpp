#include "lowering/passes/views.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/passes/in_place.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using KindNames = std::set<std::string>;

bool isNamed(const Node& node, const KindNames& names) {
  return names.count(node.kind().toQualString()) != 0;
}

// A list of sizes, or a tensor that has them, is in the second place of those views that may say a dtype there.
bool alwaysViews(const Node& node) {
  static const KindNames names = {"aten::slice",     "aten::select",   "aten::narrow",    "aten::transpose",
                                  "aten::t",         "aten::swapaxes", "aten::swapdims",  "aten::permute",
                                  "aten::movedim",   "aten::squeeze",  "aten::unsqueeze", "aten::view",
                                  "aten::view_as",   "aten::detach",   "aten::alias",     "aten::expand",
                                  "aten::expand_as", "aten::diagonal", "aten::unfold",    "aten::unflatten"};
  return isNamed(node, names) && node.maybeSchema() && isTensor(*node.input(0)) && isTensor(*node.output()) &&
         (node.kind() != torch::jit::aten::view || node.input(1)->type()->kind() == c10::TypeKind::ListType);
}

bool splits(const Node& node) {
  static const KindNames names = {"aten::unbind", "aten::split", "aten::split_with_sizes", "aten::chunk",
                                  "aten::tensor_split"};
  return isNamed(node, names) && node.maybeSchema() && isTensor(*node.input(0));
}

bool isUnbind(const Node& node) {
  return node.kind() == torch::jit::aten::unbind;
}

// An in-place operator that keeps the shape of what it writes to. Functional forms of the others are views.
bool writesElements(const Node& node) {
  static const KindNames shapes = {"aten::resize_",    "aten::resize_as_",  "aten::set_",       "aten::t_",
                                   "aten::transpose_", "aten::squeeze_",    "aten::unsqueeze_", "aten::swapaxes_",
                                   "aten::swapdims_",  "aten::as_strided_", "aten::detach_",    "aten::requires_grad_",
                                   "aten::rename_"};
  return isInPlace(node) && !isNamed(node, shapes);
}

std::optional<int64_t> constantNumber(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isInt() ? std::optional(constant->toInt()) : std::nullopt;
}

std::optional<std::vector<int64_t>> constantNumbers(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (constant && constant->isIntList()) {
    return constant->toIntVector();
  }
  if (value->node()->kind() != prim::ListConstruct) {
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (const Value* element : value->node()->inputs()) {
    const auto number = constantNumber(element);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

const Node& splitterOf(const Value& piece) {
  return *piece.node()->input(0)->node();
}

// Returns the number of the piece; negative ones count from the end.
std::optional<int64_t> numberOf(const Value& piece) {
  return piece.node()->kind() == prim::ListUnpack ? std::optional(static_cast<int64_t>(piece.offset()))
                                                  : constantNumber(piece.node()->input(1));
}

struct Range {
  int64_t start, end;
};

// The places along the dimension that the piece takes, as far as they are the same in every call.
std::optional<Range> rangeOf(const Value& piece) {
  const Node& splitter = splitterOf(piece);
  const auto number = numberOf(piece);
  if (!isNamed(splitter, {"aten::split", "aten::split_with_sizes"}) || !number || *number < 0) {
    return std::nullopt;
  }
  if (const auto size = constantNumber(splitter.input(1))) {
    return Range{*number * *size, (*number + 1) * *size};
  }
  const auto sizes = constantNumbers(splitter.input(1));
  if (!sizes || static_cast<size_t>(*number) >= sizes->size()) {
    return std::nullopt;
  }
  Range range{0, 0};
  for (int64_t i = 0; i <= *number; ++i) {
    range = {range.end, range.end + (*sizes)[static_cast<size_t>(i)]};
  }
  return range;
}

bool isWholeSlice(const Node& node) {
  if (node.kind() != torch::jit::aten::slice || node.inputs().size() != 5 || !isTensor(*node.input(0))) {
    return false;
  }
  const auto is_none = [&node](size_t i) {
    const auto constant = torch::jit::toIValue(node.input(i));
    return constant && constant->isNone();
  };
  return (is_none(2) || constantNumber(node.input(2)) == 0) &&
         (is_none(3) || constantNumber(node.input(3)) == std::numeric_limits<int64_t>::max()) &&
         constantNumber(node.input(4)) == 1;
}

// Makes nodes in front of one, with its place in the source.
class Maker {
 public:
  explicit Maker(Node& before) : graph_(*before.owningGraph()), before_(before), guard_(&before) {}

  Value* make(const char* kind, const std::vector<Value*>& inputs) {
    Node* node = graph_.insertNode(graph_.create(c10::Symbol::fromQualString(kind), inputs));
    return node->copyMetadata(&before_)->output();
  }

  Value* number(int64_t value) {
    return graph_.insertConstant(value);
  }

  Value* numbers(const std::vector<int64_t>& values) {
    return graph_.insertConstant(values);
  }

  // Gives the value of the copy that stands for this one.
  Value* copy(const Value& value, Value* operand) {
    Node* original = const_cast<Node*>(value.node());
    Node* node = graph_.insertNode(graph_.createClone(original, [](Value* input) { return input; }));
    node->replaceInput(0, operand);
    return node->output(value.offset());
  }

 private:
  Graph& graph_;
  Node& before_;
  torch::jit::WithInsertPoint guard_;
};

Value* putPieceBack(const Value& piece, Value* whole, Value* part, Maker& maker) {
  const Node& splitter = splitterOf(piece);
  if (isUnbind(splitter)) {
    return maker.make("aten::select_scatter",
                      {whole, part, const_cast<Value*>(splitter.input(1)), maker.number(*numberOf(piece))});
  }
  const Range range = *rangeOf(piece);
  Value* dim = const_cast<Value*>(splitter.input(2));
  return maker.make("aten::slice_scatter",
                    {whole, part, dim, maker.number(range.start), maker.number(range.end), maker.number(1)});
}

std::vector<int64_t> inverseOf(const std::vector<int64_t>& order) {
  const auto rank = static_cast<int64_t>(order.size());
  std::vector<int64_t> inverse(order.size());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    inverse[static_cast<size_t>(from < 0 ? from + rank : from)] = i;
  }
  return inverse;
}

const KindNames& swaps() {
  static const KindNames names = {"aten::transpose", "aten::t", "aten::swapaxes", "aten::swapdims"};
  return names;
}

const KindNames& regroups() {
  static const KindNames names = {"aten::view", "aten::view_as", "aten::squeeze", "aten::unflatten"};
  return names;
}

}  // namespace

Value* viewedBy(const Value& value) {
  const Node& node = *value.node();
  const bool takes_piece = node.kind() == prim::ListUnpack ||
                           (node.kind() == torch::jit::aten::__getitem__ && constantNumber(node.input(1)));
  const bool is_view =
      writesElements(node) || alwaysViews(node) || splits(node) || (takes_piece && splits(*node.input(0)->node()));
  return is_view ? const_cast<Value*>(node.input(0)) : nullptr;
}

// Removes slices that are all of a tensor. A slice stays if an in-place operator changes its shape, which would change
// its base's, or if something asks for its identity.
bool removeWholeSlices(Graph& graph) {
  bool changed = false;
  forEachNode(graph.block(), [&changed](Node* node) {
    const auto& uses = node->outputs().size() == 1 ? node->output()->uses() : std::vector<torch::jit::Use>();
    const bool is_only_read = std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
      const Node& user = *use.user;
      const bool asks_which = user.kind() == torch::jit::aten::__is__ || user.kind() == torch::jit::aten::__isnot__;
      return !asks_which && (!isInPlace(user) || writesElements(user)) && user.kind() != prim::Return;
    });
    if (isWholeSlice(*node) && is_only_read) {
      node->output()->replaceAllUsesWith(node->input(0));
      node->destroy();
      changed = true;
    }
  });
  return changed;
}

bool isPiece(const Value& value) {
  return viewedBy(value) != nullptr && splits(*value.node()->input(0)->node());
}

bool canPutBack(const Value& view) {
  static const KindNames scattered = {"aten::slice", "aten::select", "aten::unsqueeze", "aten::detach", "aten::alias"};
  const Node& node = *view.node();
  if (isPiece(view)) {
    return isUnbind(splitterOf(view)) || rangeOf(view);
  }
  if (node.kind() == torch::jit::aten::permute) {
    return constantNumbers(node.input(1)).has_value();
  }
  return isInPlace(node) || isNamed(node, scattered) || isNamed(node, swaps()) || isNamed(node, regroups());
}

Value* putBack(const Value& view, Value* whole, Value* part, Node& before) {
  Node& node = *const_cast<Node*>(view.node());
  Maker maker(before);
  if (isPiece(view)) {
    return putPieceBack(view, whole, part, maker);
  }
  std::vector<Value*> others(node.inputs().begin() + 1, node.inputs().end());
  if (isNamed(node, {"aten::slice", "aten::select"})) {
    others.insert(others.begin(), {whole, part});
    return maker.make(node.kind() == torch::jit::aten::slice ? "aten::slice_scatter" : "aten::select_scatter", others);
  }
  if (isNamed(node, swaps())) {
    others.insert(others.begin(), part);
    return maker.make(node.kind().toQualString(), others);
  }
  if (node.kind() == torch::jit::aten::permute) {
    return maker.make("aten::permute", {part, maker.numbers(inverseOf(*constantNumbers(node.input(1))))});
  }
  if (node.kind() == torch::jit::aten::unsqueeze) {
    return maker.make("aten::squeeze", {part, node.input(1)});
  }
  return isNamed(node, regroups()) ? maker.make("aten::reshape_as", {part, whole}) : part;
}

Value* viewAgain(const Value& view, Value* whole, Node& before) {
  Maker maker(before);
  if (isInPlace(*view.node())) {
    return whole;
  }
  if (!isPiece(view)) {
    Value* again = maker.copy(view, whole);
    return again->setType(view.type());
  }
  const Node& splitter = splitterOf(view);
  if (isUnbind(splitter)) {
    return maker.make("aten::select", {whole, const_cast<Value*>(splitter.input(1)), maker.number(*numberOf(view))});
  }
  return maker.copy(view, maker.copy(*view.node()->input(0), whole));
}

}  // namespace torchtrt::lowering
