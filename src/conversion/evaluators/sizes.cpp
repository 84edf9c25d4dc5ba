#include <algorithm>
#include <functional>

#include "conversion/evaluators/evaluators.h"
#include "lowering/graph_walk.h"

namespace torchtrt::conversion::evaluators {
namespace {

network::Tensor* networkTensor(const ConversionCtx& ctx, const Value* value) {
  const auto found = lookUp(ctx, value);
  return found ? shapedIn(*found) : nullptr;
}

bool size(ConversionCtx& ctx, const Node& node) {
  const network::Tensor* tensor = networkTensor(ctx, node.input(0));
  if (!tensor) {
    return false;
  }
  const Dims& dims = tensor->getDimensions();
  if (node.inputs().size() == 1) {
    const bool is_static = dims.isStatic();
    c10::impl::GenericList list(is_static ? c10::TypePtr(c10::IntType::get()) : c10::TypePtr(c10::AnyType::get()));
    for (const Dim& dim : dims) {
      list.push_back(wrap(dim));
    }
    ctx.AssociateValueAndIValue(node.output(), list);
    return true;
  }
  const auto axis = lookUp(ctx, node.input(1));
  if (!axis || !axis->isInt()) {
    return false;
  }
  const int64_t index = axis->toInt() < 0 ? axis->toInt() + dims.rank() : axis->toInt();
  if (index < 0 || index >= dims.rank()) {
    ctx.refuse("argument",
               "dimension " + std::to_string(axis->toInt()) + " of a tensor of rank " + std::to_string(dims.rank()));
  }
  associate(ctx, node.output(), wrap(dims[static_cast<int>(index)]));
  return true;
}

bool rank(ConversionCtx& ctx, const Node& node) {
  const network::Tensor* tensor = networkTensor(ctx, node.input(0));
  if (tensor) {
    ctx.AssociateValueAndIValue(node.output(), static_cast<int64_t>(tensor->rank()));
  }
  return tensor != nullptr;
}

bool numel(ConversionCtx& ctx, const Node& node) {
  const network::Tensor* tensor = networkTensor(ctx, node.input(0));
  if (tensor) {
    ctx.AssociateValueAndIValue(node.output(), wrap(tensor->getDimensions().numel()));
  }
  return tensor != nullptr;
}

// len of a network tensor is its first dimension; of a list it is PyTorch's to say.
bool length(ConversionCtx& ctx, const Node& node) {
  const network::Tensor* tensor = networkTensor(ctx, node.input(0));
  if (tensor && tensor->rank() > 0) {
    ctx.AssociateValueAndIValue(node.output(), wrap(tensor->getDimensions()[0]));
    return true;
  }
  return false;
}

using Dim2 = Dim (*)(const Dim&, const Dim&);

// The first `count` operands as whole numbers, if at least one is symbolic; what is all known is PyTorch's to compute.
std::optional<std::vector<Dim>> symbolicOperands(const ConversionCtx& ctx, const Node& node, size_t count) {
  std::vector<Dim> dims;
  bool symbolic = false;
  for (size_t i = 0; i < count && i < node.inputs().size(); ++i) {
    const auto value = lookUp(ctx, node.inputs()[i]);
    const auto dim = value ? dimIn(*value) : std::nullopt;
    if (!dim) {
      return std::nullopt;
    }
    symbolic |= symbolIn(*value).has_value();
    dims.push_back(*dim);
  }
  return symbolic && dims.size() == count ? std::optional(dims) : std::nullopt;
}

// add and sub of 0-d tensors have a factor for the second operand.
bool hasFactor(const ConversionCtx& ctx, const Node& node) {
  const auto factor = node.inputs().size() > 2 ? lookUp(ctx, node.inputs()[2]) : std::optional(IValue(1));
  return !factor || !factor->isInt() || factor->toInt() != 1;
}

template <Dim2 compute>
bool arithmetic(ConversionCtx& ctx, const Node& node) {
  const auto dims = symbolicOperands(ctx, node, 2);
  if (!dims || hasFactor(ctx, node)) {
    return false;
  }
  associate(ctx, node.output(), wrap(compute((*dims)[0], (*dims)[1])));
  return true;
}

Dim plus(const Dim& a, const Dim& b) {
  return a + b;
}
Dim minus(const Dim& a, const Dim& b) {
  return a - b;
}
Dim reverseMinus(const Dim& a, const Dim& b) {
  return b - a;
}
Dim times(const Dim& a, const Dim& b) {
  return a * b;
}

bool negate(ConversionCtx& ctx, const Node& node) {
  const auto dims = symbolicOperands(ctx, node, 1);
  if (dims) {
    associate(ctx, node.output(), wrap(-(*dims)[0]));
  }
  return dims.has_value();
}

// Between an int and a 0-d tensor of it nothing changes here.
bool convert(ConversionCtx& ctx, const Node& node) {
  const auto value = lookUp(ctx, node.input(0));
  const auto dim = value ? symbolIn(*value) : std::nullopt;
  if (dim) {
    associate(ctx, node.output(), *value);
  }
  return dim.has_value();
}

// Takes whole numbers on both sides: a trace's `b *= h` comes down to that.
bool typeAs(ConversionCtx& ctx, const Node& node) {
  const auto dims = symbolicOperands(ctx, node, 2);
  if (dims) {
    associate(ctx, node.output(), wrap((*dims)[0]));
  }
  return dims.has_value();
}

// Converts a size to an integer dtype, which it fits.
bool toInteger(ConversionCtx& ctx, const Node& node) {
  const auto dtype = node.hasNamedInput("dtype") ? lookUp(ctx, node.namedInput("dtype")) : std::nullopt;
  const bool is_whole =
      dtype && dtype->isInt() &&
      (dtype->toInt() == static_cast<int64_t>(at::kLong) || dtype->toInt() == static_cast<int64_t>(at::kInt));
  return is_whole && convert(ctx, node);
}

// div with a rounding mode of floor; sizes are not negative, so towards zero is the same unless an operand is.
bool divide(ConversionCtx& ctx, const Node& node) {
  const auto mode = node.inputs().size() == 3 ? lookUp(ctx, node.inputs()[2]) : std::nullopt;
  const auto dims = symbolicOperands(ctx, node, 2);
  if (!dims || !mode || !mode->isString() || mode->toStringRef() != "floor") {
    return false;
  }
  associate(ctx, node.output(), wrap(Dim::floorDiv((*dims)[0], (*dims)[1])));
  return true;
}

// Smallest and largest difference that the symbols' ranges allow.
std::pair<int64_t, int64_t> differenceRange(const ConversionCtx& ctx, const Dim& a, const Dim& b) {
  return (a - b).range([&](const std::string& name) {
    const Symbol* symbol = ctx.net->findSymbol(name);
    return symbol ? *symbol : Symbol{name, 0, 0, INT64_MAX};
  });
}

enum class Relation { kEqual, kLess, kLessEqual };

std::optional<bool> decide(Relation relation, int64_t low, int64_t high) {
  switch (relation) {
    case Relation::kEqual:
      return low > 0 || high < 0 ? std::optional(false) : low == 0 && high == 0 ? std::optional(true) : std::nullopt;
    case Relation::kLess:
      return high < 0 ? std::optional(true) : low >= 0 ? std::optional(false) : std::nullopt;
    case Relation::kLessEqual:
      return high <= 0 ? std::optional(true) : low > 0 ? std::optional(false) : std::nullopt;
  }
  return std::nullopt;
}

// A comparison that comes out alike for every allowed size is decided here, any other is refused.
template <Relation relation, bool swap, bool negated>
bool compare(ConversionCtx& ctx, const Node& node) {
  const auto dims = symbolicOperands(ctx, node, 2);
  if (!dims || node.output()->type()->kind() != c10::TypeKind::BoolType) {
    return false;
  }
  const auto [low, high] = differenceRange(ctx, (*dims)[swap ? 1 : 0], (*dims)[swap ? 0 : 1]);
  const auto answer = decide(relation, low, high);
  if (!answer) {
    ctx.refuse("dynamic-dimension", "the comparison of " + (*dims)[0].toString() + " with " + (*dims)[1].toString() +
                                        " comes out differently within the compiled range");
  }
  ctx.AssociateValueAndIValue(node.output(), *answer != negated);
  return true;
}

// min and max of a list of whole numbers, or of two.
template <Dim2 compute>
bool extreme(ConversionCtx& ctx, const Node& node) {
  if (lowering::isTensor(*node.output())) {
    return false;
  }
  return arithmetic<compute>(ctx, node);
}

}  // namespace

void addSizeEvaluators(EvaluatorRegistry& registry) {
  registry.add("aten::size", size);
  registry.add("aten::sym_size", size);
  registry.add("prim::shape", size);
  registry.add("aten::dim", rank);
  registry.add("aten::numel", numel);
  registry.add("aten::sym_numel", numel);
  registry.add("aten::len", length);
  registry.add("aten::add", arithmetic<plus>);
  registry.add("aten::sub", arithmetic<minus>);
  registry.add("aten::rsub", arithmetic<reverseMinus>);
  registry.add("aten::mul", arithmetic<times>);
  registry.add("aten::floordiv", arithmetic<Dim::floorDiv>);
  registry.add("aten::floor_divide", arithmetic<Dim::floorDiv>);
  registry.add("aten::remainder", arithmetic<Dim::mod>);
  registry.add("aten::div", divide);
  registry.add("aten::neg", negate);
  registry.add("prim::min", extreme<Dim::min>);
  registry.add("prim::max", extreme<Dim::max>);
  registry.add("prim::NumToTensor", convert);
  registry.add("aten::Int", convert);
  registry.add("aten::IntImplicit", convert);
  registry.add("aten::ScalarImplicit", convert);
  registry.add("aten::item", convert);
  registry.add("aten::type_as", typeAs);
  registry.add("aten::to", toInteger);
  registry.add("aten::eq", compare<Relation::kEqual, false, false>);
  registry.add("aten::ne", compare<Relation::kEqual, false, true>);
  registry.add("aten::lt", compare<Relation::kLess, false, false>);
  registry.add("aten::ge", compare<Relation::kLess, false, true>);
  registry.add("aten::gt", compare<Relation::kLess, true, false>);
  registry.add("aten::le", compare<Relation::kLessEqual, false, false>);
}

}  // namespace torchtrt::conversion::evaluators
