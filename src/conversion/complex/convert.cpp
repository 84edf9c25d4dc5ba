// Converts the operators that take complex operands: functions of the parts (functions.cpp), those that do the same to
// both parts, and products, which are those of the parts.
#include <algorithm>
#include <set>

#include "conversion/complex/complex.h"
#include "conversion/complex/functions.h"
#include "conversion/walk.h"

namespace torchtrt::conversion::complex {
namespace {

using torch::jit::Node;
using torch::jit::Value;
using Kinds = std::set<std::string>;

// These operators do to the imaginary part what they do to the real one.
const Kinds& linear() {
  static const Kinds kinds = {"aten::reshape",
                              "aten::view",
                              "aten::permute",
                              "aten::transpose",
                              "aten::t",
                              "aten::unsqueeze",
                              "aten::squeeze",
                              "aten::flatten",
                              "aten::unflatten",
                              "aten::slice",
                              "aten::select",
                              "aten::narrow",
                              "aten::index_select",
                              "aten::expand",
                              "aten::expand_as",
                              "aten::repeat",
                              "aten::tile",
                              "aten::flip",
                              "aten::roll",
                              "aten::cat",
                              "aten::stack",
                              "aten::split",
                              "aten::split_with_sizes",
                              "aten::chunk",
                              "aten::unbind",
                              "aten::tensor_split",
                              "aten::movedim",
                              "aten::swapaxes",
                              "aten::swapdims",
                              "aten::clone",
                              "aten::neg",
                              "aten::sum",
                              "aten::mean",
                              "aten::cumsum",
                              "aten::gather",
                              "aten::diagonal",
                              "aten::tril",
                              "aten::triu",
                              "aten::view_as",
                              "aten::reshape_as",
                              "aten::zeros_like",
                              "aten::fft_fftshift",
                              "aten::fft_ifftshift",
                              "aten::numpy_T",
                              "aten::mT",
                              "aten::index",
                              "aten::concat",
                              "aten::concatenate",
                              "aten::broadcast_to",
                              "aten::diff"};
  return kinds;
}

// The same where what is put in may be real: then its imaginary part is 0.
const Kinds& placing() {
  static const Kinds kinds = {"aten::slice_scatter", "aten::select_scatter", "aten::copy", "aten::index_put"};
  return kinds;
}

// Real operands or none, and a result of the dtype that is named.
const Kinds& typed() {
  static const Kinds kinds = {"aten::zeros",      "aten::ones",      "aten::new_zeros",  "aten::new_ones",
                              "aten::zeros_like", "aten::ones_like", "aten::empty_like", "aten::to"};
  return kinds;
}

// Their converters take either kind of operand.
const Kinds& transforms() {
  static const Kinds kinds = {"aten::view_as_real", "aten::real",       "aten::imag",      "aten::istft",
                              "aten::fft_fft",      "aten::fft_ifft",   "aten::fft_irfft", "aten::fft_fft2",
                              "aten::fft_ifft2",    "aten::fft_irfft2", "aten::fft_fftn",  "aten::fft_ifftn",
                              "aten::fft_irfftn"};
  return kinds;
}

const Kinds& products() {
  static const Kinds kinds = {"aten::matmul", "aten::mm",    "aten::bmm",   "aten::mv",
                              "aten::einsum", "aten::outer", "aten::linear"};
  return kinds;
}

bool isOneOf(const Node& node, const Kinds& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

// True if layers have operands of which at least one is complex. PyTorch computes what is all known.
bool hasComplexOperand(const ConversionCtx& ctx, const Node& node) {
  bool any_constant = false, any_layer = false;
  for (const Value* input : node.inputs()) {
    const auto value = lookUp(ctx, input);
    if (!value) {
      return false;
    }
    if (anyElement(*value, [](const IValue& element) { return partsIn(element).has_value(); })) {
      return true;
    }
    any_constant |= anyElement(*value, isComplex);
    any_layer |= holdsContainers(*value);
  }
  return any_constant && any_layer;
}

// Chooses the part that stands for complex operand number i.
using Choice = std::function<bool(int)>;  // true: the imaginary one

// The value with parts in the place of what is complex; `count` counts them. In a list with such, real tensors have
// an imaginary part of zeros.
IValue chosen(ConversionCtx& ctx, const IValue& value, const Choice& imaginary, int& count) {
  if (const auto parts = partsIn(value)) {
    return wrap(imaginary(count++) ? parts->im : parts->re);
  }
  if (isComplex(value) && value.isTensor()) {
    const at::Tensor& constant = value.toTensor();
    return wrap(ctx.constant((imaginary(count++) ? at::imag(constant) : at::real(constant)).contiguous()));
  }
  const bool is_mixed = value.isList() && anyElement(value, [](const IValue& element) {
                          return partsIn(element).has_value() || isComplex(element);
                        });
  if (!is_mixed) {
    return value;
  }
  c10::impl::GenericList list(c10::AnyType::get());
  for (const IValue& element : value.toListRef()) {
    const int before = count;
    IValue part = chosen(ctx, element, imaginary, count);
    network::Tensor* const real = tensorIn(part);
    const bool is_real = count == before && real != nullptr;
    list.push_back(is_real && imaginary(count) ? wrap(zerosLike(ctx, *real)) : part);
  }
  return list;
}

int countComplex(ConversionCtx& ctx, const Node& node) {
  int count = 0;
  for (const Value* input : node.inputs()) {
    anyElement(lookUp(ctx, input).value(), [&](const IValue& element) {
      count += partsIn(element) || isComplex(element) ? 1 : 0;
      return false;
    });
  }
  return count;
}

bool isFloatingTensor(const IValue& value) {
  if (const network::Tensor* tensor = tensorIn(value)) {
    return isFloating(tensor->getType());
  }
  return value.isTensor() && value.toTensor().defined() && value.toTensor().is_floating_point();
}

IValue zeroOf(ConversionCtx& ctx, const IValue& value) {
  const network::Tensor* tensor = tensorIn(value);
  return tensor ? wrap(zerosLike(ctx, *tensor)) : IValue(at::zeros_like(value.toTensor()));
}

// The node's results where parts stand for its complex operands.
std::vector<IValue> realResults(ConversionCtx& ctx, const Node& node, const Choice& imaginary) {
  std::vector<std::pair<const Value*, IValue>> originals;
  for (const Value* input : node.inputs()) {
    const auto is_known = [&](const auto& original) { return original.first == input; };
    if (std::none_of(originals.begin(), originals.end(), is_known)) {
      originals.emplace_back(input, lookUp(ctx, input).value());
    }
  }
  int count = 0;
  const bool puts_in = isOneOf(node, placing());
  for (const auto& [input, original] : originals) {
    const bool is_zero = puts_in && imaginary(count) && isFloatingTensor(original);
    associate(ctx, input, is_zero ? zeroOf(ctx, original) : chosen(ctx, original, imaginary, count));
  }
  convertReal(ctx, node);
  std::vector<IValue> results;
  for (const Value* output : node.outputs()) {
    results.push_back(lookUp(ctx, output).value());
  }
  for (const auto& [input, original] : originals) {
    associate(ctx, input, original);
  }
  ctx.node = &node;
  return results;
}

// Tensors of two results, pair by pair, in lists, too.
IValue combined(ConversionCtx& ctx, const IValue& a, const IValue& b,
                const std::function<IValue(network::Tensor*, network::Tensor*)>& combine) {
  if (network::Tensor* const first = tensorIn(a)) {
    return combine(first, tensorIn(b));
  }
  if (!a.isList()) {
    ctx.refuse("complex", "its result is " + a.tagKind() + ", expected tensors");
  }
  c10::impl::GenericList list(c10::AnyType::get());
  const auto others = b.toListRef();
  for (size_t i = 0; i < others.size(); ++i) {
    list.push_back(combined(ctx, a.toListRef()[i], others[i], combine));
  }
  return list;
}

IValue asParts(network::Tensor* re, network::Tensor* im) {
  return wrap(Parts{re, im});
}

void convertLinear(ConversionCtx& ctx, const Node& node) {
  const std::vector<IValue> re = realResults(ctx, node, [](int) { return false; });
  const std::vector<IValue> im = realResults(ctx, node, [](int) { return true; });
  for (size_t i = 0; i < re.size(); ++i) {
    associate(ctx, node.outputs()[i], combined(ctx, re[i], im[i], asParts));
  }
}

std::optional<at::ScalarType> namedComplexType(const ConversionCtx& ctx, const Node& node) {
  const auto index = node.schema().argumentIndexWithName("dtype");
  const auto named = index ? lookUp(ctx, node.input(static_cast<size_t>(*index))) : std::nullopt;
  const bool is_complex = named && named->isInt() && c10::isComplexType(static_cast<at::ScalarType>(named->toInt()));
  return is_complex ? std::optional(static_cast<at::ScalarType>(named->toInt())) : std::nullopt;
}

// Gives a complex result of real operands: that of the real dtype, and zeros. PyTorch computes what is all known.
bool convertTyped(ConversionCtx& ctx, const Node& node) {
  const auto named = isOneOf(node, typed()) ? namedComplexType(ctx, node) : std::nullopt;
  const bool is_layer = named && std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value* input) {
                          return holdsContainers(lookUp(ctx, input).value_or(IValue()));
                        });
  if (!is_layer) {
    return false;
  }
  const Value* dtype = node.input(static_cast<size_t>(*node.schema().argumentIndexWithName("dtype")));
  const IValue original = lookUp(ctx, dtype).value();
  associate(ctx, dtype, static_cast<int64_t>(c10::toRealValueType(*named)));
  convertReal(ctx, node);
  associate(ctx, dtype, original);
  ctx.node = &node;
  network::Tensor* const re = tensorIn(lookUp(ctx, node.output()).value());
  if (!re) {
    ctx.refuse("complex", "its result is no tensor of the network");
  }
  associate(ctx, node.output(), asParts(re, zerosLike(ctx, *re)));
  return true;
}

// (a + ib)(c + id), for multiplications of every kind.
void convertProduct(ConversionCtx& ctx, const Node& node) {
  const int count = countComplex(ctx, node);
  if (count == 1) {
    convertLinear(ctx, node);
    return;
  }
  if (count != 2) {
    ctx.refuse("complex", "multiplications of more than two complex tensors have no layers here");
  }
  const auto product = [&](bool first, bool second) {
    return tensorIn(realResults(ctx, node, [=](int i) { return i == 0 ? first : second; }).at(0));
  };
  network::Tensor* const ac = product(false, false);
  network::Tensor* const bd = product(true, true);
  network::Tensor* const ad = product(false, true);
  network::Tensor* const bc = product(true, false);
  associate(ctx, node.output(),
            asParts(ctx.net->addElementWise(*ac, *bd, "sub")->getOutput(0),
                    ctx.net->addElementWise(*ad, *bc, "sum")->getOutput(0)));
}

}  // namespace

network::Tensor* zerosLike(ConversionCtx& ctx, const network::Tensor& tensor) {
  Attributes attributes;
  attributes.set("op", std::string("constant"));
  attributes.set("dims", tensor.getDimensions());
  attributes.set("dtype", tensor.getType());
  return ctx.net->addLayer(network::LayerType::kFILL, {}, attributes)->getOutput(0);
}

std::optional<Parts> partsOf(ConversionCtx& ctx, const Value* value) {
  const auto known = lookUp(ctx, value);
  if (!known) {
    return std::nullopt;
  }
  if (isComplex(*known) && known->isTensor()) {
    const at::Tensor& constant = known->toTensor();
    return Parts{ctx.constant(at::real(constant).contiguous()), ctx.constant(at::imag(constant).contiguous())};
  }
  if (const auto parts = partsIn(*known)) {
    return parts;
  }
  network::Tensor* const real = ctx.tensorOf(value);
  return real ? std::optional(Parts{real, nullptr}) : std::nullopt;
}

bool has(const Node& node) {
  return node.maybeSchema() && (findFunction(node) != nullptr || isOneOf(node, linear()) || isOneOf(node, placing()) ||
                                isOneOf(node, products()));
}

bool takes(const Node& node) {
  return has(node) || isOneOf(node, transforms());
}

bool convert(ConversionCtx& ctx, const Node& node) {
  if (!node.kind().is_aten() || !node.maybeSchema()) {
    return false;
  }
  if (!has(node) || !hasComplexOperand(ctx, node)) {
    return convertSquareOfMagnitude(ctx, node) || convertTyped(ctx, node);
  }
  if (const Function function = findFunction(node)) {
    function(ctx, node);
  } else if (isOneOf(node, products())) {
    convertProduct(ctx, node);
  } else {
    convertLinear(ctx, node);
  }
  return true;
}

}  // namespace torchtrt::conversion::complex
