#include <cmath>
#include <optional>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "libtorch/versions.h"

namespace torchtrt::conversion::converters {
namespace {

constexpr char kSub[] = "sub", kMod[] = "mod", kFmod[] = "fmod", kFloorDiv[] = "floor_div", kAtan2[] = "atan2",
               kAnd[] = "and", kOr[] = "or", kXor[] = "xor", kBitwiseAnd[] = "bitwise_and", kBitwiseOr[] = "bitwise_or",
               kBitwiseXor[] = "bitwise_xor", kEqual[] = "equal", kNotEqual[] = "not_equal", kLess[] = "less",
               kLessEqual[] = "less_equal", kGreater[] = "greater", kGreaterEqual[] = "greater_equal";

Tensor& apply(const Call& call, const std::string& op, const Operand& a, const Operand& b, DType dtype) {
  return call.elementwise(op, call.materialize(a, dtype), call.materialize(b, dtype));
}

// Operands 0 and 1, promoted.
template <const char* op>
Tensor& binary(Call& call) {
  const Operand a = call.operand(0), b = call.operand(1);
  return apply(call, op, a, b, resultType({a, b}));
}

template <const char* op>
Tensor& floatingBinary(Call& call) {
  const Operand a = call.operand(0), b = call.operand(1);
  return apply(call, op, a, b, floatingType(resultType({a, b})));
}

// Logical operators see each operand in its own dtype, which the result does not depend on.
template <const char* op>
Tensor& logical(Call& call) {
  return call.elementwise(op, call.cast(call.tensor(0), DType::kBool), call.cast(call.tensor(1), DType::kBool));
}

// The factor is of the result's dtype and 1 for most.
Tensor& scaledBy(const Call& call, Tensor& tensor, const at::Scalar& factor) {
  return factor.equal(1) ? tensor : call.elementwise("prod", tensor, call.constant(factor, tensor.getType()));
}

template <const char* op, bool reversed>
Tensor& scaled(Call& call) {
  const Operand a = call.operand(reversed ? 1 : 0), b = call.operand(reversed ? 0 : 1);
  const DType dtype = resultType({a, b});
  const at::Scalar alpha = call.count() > 2 ? call.number(2) : at::Scalar(1);
  return call.elementwise(op, call.materialize(a, dtype), scaledBy(call, call.materialize(b, dtype), alpha));
}

Tensor& divide(Call& call) {
  const Operand a = call.operand(0), b = call.operand(1);
  const DType dtype = resultType({a, b});
  const std::string mode = call.count() > 2 && !call.isNone(2) ? call.text(2) : "";
  if (mode.empty()) {
    return apply(call, "div", a, b, floatingType(dtype));
  }
  if (mode != "floor" && mode != "trunc") {
    call.refuse("argument", "argument 'rounding_mode' has to be None, 'trunc' or 'floor', got '" + mode + "'");
  }
  return apply(call, mode == "floor" ? "floor_div" : "trunc_div", a, b, dtype);
}

// The exponents that PyTorch computes by other means than pow, with the same results.
Tensor* specialPower(const Call& call, Tensor& base, double exponent) {
  if (exponent == 2) {
    return &call.elementwise("prod", base, base);
  }
  if (exponent == 3) {
    return &call.elementwise("prod", call.elementwise("prod", base, base), base);
  }
  if (exponent == -2 && isFloating(base.getType())) {
    return &call.unary("reciprocal", call.elementwise("prod", base, base));
  }
  const char* op = exponent == 0.5 ? "sqrt" : exponent == -0.5 ? "rsqrt" : exponent == -1 ? "reciprocal" : nullptr;
  return op && isFloating(base.getType()) ? &call.unary(op, base) : nullptr;
}

Tensor& power(Call& call) {
  const Operand base = call.operand(0), exponent = call.operand(1);
  const DType dtype = resultType({base, exponent});
  if (!exponent.tensor && base.tensor && dtype != DType::kBool) {
    if (Tensor* special = specialPower(call, call.materialize(base, dtype), exponent.number.toDouble())) {
      return *special;
    }
  }
  return apply(call, "pow", base, exponent, dtype);
}

// A bound beyond all integers of a type takes no part; one that leaves no integer is an error of PyTorch's.
std::optional<Operand> boundOf(const Call& call, const std::optional<Operand>& bound, DType dtype, bool is_upper) {
  if (!bound || bound->tensor || isFloating(dtype) || dtype == DType::kBool || !libtorch::clampTakesAnyBound()) {
    return bound;
  }
  const bool is_unsigned = dtype == DType::kUInt8;
  const int bits = 8 * static_cast<int>(sizeOf(dtype)) - (is_unsigned ? 0 : 1);
  const int64_t highest = static_cast<int64_t>((uint64_t{1} << bits) - 1), lowest = is_unsigned ? 0 : -highest - 1;
  const int64_t number = bound->number.toLong();
  if (is_upper ? number < lowest : number > highest) {
    call.refuse("argument", "the bound " + std::to_string(number) + " is beyond every value of the tensor's type");
  }
  return number < lowest || number > highest ? std::nullopt : bound;
}

// Bounds are numbers or tensors; either may be None. The upper one wins where they cross.
Tensor& clampBetween(const Call& call, const std::optional<Operand>& from, const std::optional<Operand>& to) {
  std::vector<Operand> operands = {call.operand(0)};
  for (const auto& bound : {from, to}) {
    if (bound) {
      operands.push_back(*bound);
    }
  }
  const DType dtype = resultType(operands);
  const auto low = boundOf(call, from, dtype, /*is_upper=*/false), high = boundOf(call, to, dtype, /*is_upper=*/true);
  Tensor& x = call.materialize(operands[0], dtype);
  if (low && high && !low->tensor && !high->tensor && isFloating(dtype)) {
    return call.activation("clip", x, low->number.toDouble(), high->number.toDouble());
  }
  Tensor& raised = low ? call.elementwise("max", x, call.materialize(*low, dtype)) : x;
  return high ? call.elementwise("min", raised, call.materialize(*high, dtype)) : raised;
}

std::optional<Operand> given(const Call& call, size_t i) {
  return call.isNone(i) ? std::nullopt : std::optional(call.operand(i));
}

Tensor& clamp(Call& call) {
  return clampBetween(call, given(call, 1), given(call, 2));
}

Tensor& clampMin(Call& call) {
  return clampBetween(call, given(call, 1), std::nullopt);
}

Tensor& clampMax(Call& call) {
  return clampBetween(call, std::nullopt, given(call, 1));
}

Tensor& select(const Call& call, Tensor& condition, const Operand& a, const Operand& b, DType dtype) {
  return call.add(LayerType::kSELECT,
                  {&call.cast(condition, DType::kBool), &call.materialize(a, dtype), &call.materialize(b, dtype)});
}

Tensor& where(Call& call) {
  const Operand a = call.operand(1), b = call.operand(2);
  return select(call, call.tensor(0), a, b, resultType({a, b}));
}

// Keeps the dtype of what is filled.
Tensor& maskedFill(Call& call) {
  const Operand self{&call.tensor(0), false, {}};
  return select(call, call.tensor(1), call.operand(2), self, self.tensor->getType());
}

// Operators of several steps compute 16 bits in float32, as PyTorch does, and round once.
DType stepsType(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}

// self + value * a * b, or * a / b
template <const char* op>
Tensor& addScaled(Call& call) {
  const Operand self = call.operand(0), a = call.operand(1), b = call.operand(2);
  const DType promoted = resultType({self, a, b});
  const DType dtype = std::string(op) == "div" ? floatingType(promoted) : promoted;
  Tensor& scaled = scaledBy(call, apply(call, op, a, b, stepsType(dtype)), call.number(3));
  return call.cast(call.elementwise("sum", call.materialize(self, stepsType(dtype)), scaled), dtype);
}

// PyTorch's two formulas, so that weight 0 and 1 give the ends exactly: start + weight * (end - start) where |weight| <
// 0.5, else end + (weight - 1) * (end - start).
Tensor& lerp(Call& call) {
  const DType dtype = call.tensor(0).getType();
  const DType steps = stepsType(dtype);
  Tensor& start = call.cast(call.tensor(0), steps);
  Tensor& end = call.cast(call.tensor(1), steps);
  const Operand given = call.operand(2);
  const auto from = [&](Tensor& base, Tensor& factor) -> Tensor& {
    Tensor& difference = call.elementwise("sub", end, start);
    return call.cast(call.elementwise("sum", base, call.elementwise("prod", factor, difference)), dtype);
  };
  Tensor& weight = call.materialize(given, steps);
  Tensor& one = call.constant(1, steps);
  if (!given.tensor) {
    return std::abs(given.number.toDouble()) < 0.5 ? from(start, weight)
                                                   : from(end, call.elementwise("sub", weight, one));
  }
  Tensor& is_small = call.elementwise("less", call.unary("abs", weight), call.constant(0.5, steps));
  Tensor& base = call.add(LayerType::kSELECT, {&is_small, &start, &end});
  Tensor& behind = call.add(LayerType::kSELECT, {&is_small, &call.constant(0, steps), &one});
  return from(base, call.elementwise("sub", weight, behind));
}

constexpr char kDiv[] = "div";

void addArithmetic(NodeConverterRegistry& registry) {
  registry.add("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", one(scaled<kSum, false>));
  registry.add("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", one(scaled<kSum, false>));
  registry.add("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", one(scaled<kSub, false>));
  registry.add("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", one(scaled<kSub, false>));
  registry.add("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
               one(scaled<kSub, false>));
  registry.add("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", one(scaled<kSub, true>));
  registry.add("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", one(scaled<kSub, true>));
  registry.add("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kProd>));
  registry.add("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kProd>));
  registry.add("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kProd>));
  registry.add("aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kProd>));
  registry.add("aten::div.Tensor(Tensor self, Tensor other) -> Tensor", one(divide));
  registry.add("aten::div.Scalar(Tensor self, Scalar other) -> Tensor", one(divide));
  registry.add("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", one(divide));
  registry.add("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", one(divide));
  registry.add("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", one(divide));
  registry.add("aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", one(divide));
  registry.add("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", one(divide));
  registry.add("aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", one(divide));
  registry.add("aten::floor_divide(Tensor self, Tensor other) -> Tensor", one(binary<kFloorDiv>));
  registry.add("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kFloorDiv>));
  registry.add("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kMod>));
  registry.add("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kMod>));
  registry.add("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kFmod>));
  registry.add("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kFmod>));
  registry.add("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", one(power));
  registry.add("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", one(power));
  registry.add("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", one(power));
  registry.add("aten::atan2(Tensor self, Tensor other) -> Tensor", one(floatingBinary<kAtan2>));
  registry.add("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
               one(addScaled<kProd>));
  registry.add("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
               one(addScaled<kDiv>));
  registry.add("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", one(lerp));
  registry.add("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", one(lerp));
}

void addMaximaAndMinima(NodeConverterRegistry& registry) {
  registry.add("aten::maximum(Tensor self, Tensor other) -> Tensor", one(binary<kMax>));
  registry.add("aten::minimum(Tensor self, Tensor other) -> Tensor", one(binary<kMin>));
  registry.add("aten::max.other(Tensor self, Tensor other) -> Tensor", one(binary<kMax>));
  registry.add("aten::min.other(Tensor self, Tensor other) -> Tensor", one(binary<kMin>));
  registry.add("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", one(clamp));
  registry.add("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", one(clamp));
  registry.add("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", one(clamp));
  registry.add("aten::clamp_min(Tensor self, Scalar min) -> Tensor", one(clampMin));
  registry.add("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", one(clampMin));
  registry.add("aten::clamp_max(Tensor self, Scalar max) -> Tensor", one(clampMax));
  registry.add("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", one(clampMax));
}

void addComparisons(NodeConverterRegistry& registry) {
  registry.add("aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kEqual>));
  registry.add("aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kEqual>));
  registry.add("aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kNotEqual>));
  registry.add("aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kNotEqual>));
  registry.add("aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kLess>));
  registry.add("aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kLess>));
  registry.add("aten::le.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kLessEqual>));
  registry.add("aten::le.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kLessEqual>));
  registry.add("aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kGreater>));
  registry.add("aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kGreater>));
  registry.add("aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kGreaterEqual>));
  registry.add("aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kGreaterEqual>));
}

void addLogic(NodeConverterRegistry& registry) {
  registry.add("aten::logical_and(Tensor self, Tensor other) -> Tensor", one(logical<kAnd>));
  registry.add("aten::logical_or(Tensor self, Tensor other) -> Tensor", one(logical<kOr>));
  registry.add("aten::logical_xor(Tensor self, Tensor other) -> Tensor", one(logical<kXor>));
  registry.add("aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kBitwiseAnd>));
  registry.add("aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kBitwiseAnd>));
  registry.add("aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kBitwiseOr>));
  registry.add("aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kBitwiseOr>));
  registry.add("aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kBitwiseXor>));
  registry.add("aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kBitwiseXor>));
  registry.add("aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kBitwiseAnd>));
  registry.add("aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kBitwiseAnd>));
  registry.add("aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kBitwiseOr>));
  registry.add("aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kBitwiseOr>));
  registry.add("aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor", one(binary<kBitwiseXor>));
  registry.add("aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor", one(binary<kBitwiseXor>));
  registry.add("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", one(where));
  registry.add("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", one(where));
  registry.add("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", one(where));
  registry.add("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", one(where));
  registry.add("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", one(maskedFill));
  registry.add("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", one(maskedFill));
}

}  // namespace

void addElementwise(NodeConverterRegistry& registry) {
  addArithmetic(registry);
  addMaximaAndMinima(registry);
  addComparisons(registry);
  addLogic(registry);
}

}  // namespace torchtrt::conversion::converters
