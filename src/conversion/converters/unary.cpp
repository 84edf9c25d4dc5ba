#include <ATen/Dispatch_v2.h>

#include <limits>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

constexpr char kExp[] = "exp", kLog[] = "log", kSqrt[] = "sqrt", kReciprocal[] = "reciprocal", kAbs[] = "abs",
               kNeg[] = "neg", kSin[] = "sin", kCos[] = "cos", kTan[] = "tan", kSinh[] = "sinh", kCosh[] = "cosh",
               kAsin[] = "asin", kAcos[] = "acos", kAtan[] = "atan", kAsinh[] = "asinh", kAcosh[] = "acosh",
               kAtanh[] = "atanh", kCeil[] = "ceil", kFloor[] = "floor", kRound[] = "round", kTrunc[] = "trunc",
               kErf[] = "erf", kErfc[] = "erfc", kSign[] = "sign", kNot[] = "not", kIsInf[] = "isinf",
               kIsNan[] = "isnan", kIsFinite[] = "isfinite", kRsqrt[] = "rsqrt", kExpm1[] = "expm1", kLog1p[] = "log1p",
               kLog2[] = "log2", kLog10[] = "log10", kExp2[] = "exp2", kFrac[] = "frac", kLgamma[] = "lgamma",
               kBitwiseNot[] = "bitwise_not";

template <const char* op>
Tensor& same(Call& call) {
  return call.unary(op, call.tensor(0));
}

// Whole numbers give float32.
template <const char* op>
Tensor& floatingUnary(Call& call) {
  Tensor& input = call.tensor(0);
  return call.unary(op, call.cast(input, floatingType(input.getType())));
}

// Whole numbers already are what rounding gives.
template <const char* op>
Tensor& rounding(Call& call) {
  Tensor& input = call.tensor(0);
  return isFloating(input.getType()) ? call.unary(op, input) : input;
}

// Questions that for whole numbers have one answer; a bool is asked as one.
template <const char* op>
Tensor& question(Call& call) {
  Tensor& input = call.tensor(0);
  return call.unary(op, input.getType() == DType::kBool ? call.cast(input, DType::kUInt8) : input);
}

// Returns a bool itself: its sign and its square are that.
template <const char* op>
Tensor& orBool(Call& call) {
  Tensor& input = call.tensor(0);
  return input.getType() == DType::kBool ? input : call.unary(op, input);
}

Tensor& square(Call& call) {
  Tensor& input = call.tensor(0);
  return call.unary("square", input.getType() == DType::kBool ? call.cast(input, DType::kInt64) : input);
}

// NaN, +inf and -inf replaced by given numbers, or by 0 and the dtype's largest and smallest.
Tensor& nanToNum(Call& call) {
  Tensor& x = call.tensor(0);
  const DType dtype = x.getType();
  if (!isFloating(dtype)) {
    return x;
  }
  const auto type = util::toScalarType(dtype);
  const double largest =
      AT_DISPATCH_V2(type, "largest", AT_WRAP([] { return static_cast<double>(std::numeric_limits<scalar_t>::max()); }),
                     AT_EXPAND(AT_FLOATING_TYPES), at::kHalf, at::kBFloat16);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto given = [&](size_t i, double fallback) { return call.isNone(i) ? fallback : call.real(i); };
  Tensor* result = &x;
  const auto replace = [&](Tensor& where, double by) {
    result = &call.add(LayerType::kSELECT, {&where, &call.constant(by, dtype), result});
  };
  if (call.isNone(2) && call.isNone(3)) {
    result = &call.activation("clip", x, -largest, largest);
    replace(call.unary("isnan", x), given(1, 0));
    return *result;
  }
  replace(call.unary("isnan", x), given(1, 0));
  replace(call.elementwise("equal", x, call.constant(infinity, dtype)), given(2, largest));
  replace(call.elementwise("equal", x, call.constant(-infinity, dtype)), given(3, -largest));
  return *result;
}

}  // namespace

void addUnaries(NodeConverterRegistry& registry) {
  registry.add("aten::exp(Tensor self) -> Tensor", one(floatingUnary<kExp>));
  registry.add("aten::log(Tensor self) -> Tensor", one(floatingUnary<kLog>));
  registry.add("aten::sqrt(Tensor self) -> Tensor", one(floatingUnary<kSqrt>));
  registry.add("aten::reciprocal(Tensor self) -> Tensor", one(floatingUnary<kReciprocal>));
  registry.add("aten::sin(Tensor self) -> Tensor", one(floatingUnary<kSin>));
  registry.add("aten::cos(Tensor self) -> Tensor", one(floatingUnary<kCos>));
  registry.add("aten::tan(Tensor self) -> Tensor", one(floatingUnary<kTan>));
  registry.add("aten::sinh(Tensor self) -> Tensor", one(floatingUnary<kSinh>));
  registry.add("aten::cosh(Tensor self) -> Tensor", one(floatingUnary<kCosh>));
  registry.add("aten::asin(Tensor self) -> Tensor", one(floatingUnary<kAsin>));
  registry.add("aten::acos(Tensor self) -> Tensor", one(floatingUnary<kAcos>));
  registry.add("aten::atan(Tensor self) -> Tensor", one(floatingUnary<kAtan>));
  registry.add("aten::asinh(Tensor self) -> Tensor", one(floatingUnary<kAsinh>));
  registry.add("aten::acosh(Tensor self) -> Tensor", one(floatingUnary<kAcosh>));
  registry.add("aten::atanh(Tensor self) -> Tensor", one(floatingUnary<kAtanh>));
  registry.add("aten::erf(Tensor self) -> Tensor", one(floatingUnary<kErf>));
  registry.add("aten::erfc(Tensor self) -> Tensor", one(floatingUnary<kErfc>));
  registry.add("aten::rsqrt(Tensor self) -> Tensor", one(floatingUnary<kRsqrt>));
  registry.add("aten::expm1(Tensor self) -> Tensor", one(floatingUnary<kExpm1>));
  registry.add("aten::log1p(Tensor self) -> Tensor", one(floatingUnary<kLog1p>));
  registry.add("aten::log2(Tensor self) -> Tensor", one(floatingUnary<kLog2>));
  registry.add("aten::log10(Tensor self) -> Tensor", one(floatingUnary<kLog10>));
  registry.add("aten::exp2(Tensor self) -> Tensor", one(floatingUnary<kExp2>));
  registry.add("aten::lgamma(Tensor self) -> Tensor", one(floatingUnary<kLgamma>));
  registry.add("aten::frac(Tensor self) -> Tensor", one(same<kFrac>));
  registry.add("aten::neg(Tensor self) -> Tensor", one(same<kNeg>));
  registry.add("aten::abs(Tensor self) -> Tensor", one(orBool<kAbs>));
  registry.add("aten::sign(Tensor self) -> Tensor", one(orBool<kSign>));
  registry.add("aten::sgn(Tensor self) -> Tensor", one(orBool<kSign>));
  registry.add("aten::square(Tensor self) -> Tensor", one(square));
  registry.add("aten::positive(Tensor(a) self) -> Tensor(a)", one(firstArgument));
  registry.add("aten::ceil(Tensor self) -> Tensor", one(rounding<kCeil>));
  registry.add("aten::floor(Tensor self) -> Tensor", one(rounding<kFloor>));
  registry.add("aten::round(Tensor self) -> Tensor", one(rounding<kRound>));
  registry.add("aten::trunc(Tensor self) -> Tensor", one(rounding<kTrunc>));
  registry.add("aten::fix(Tensor self) -> Tensor", one(rounding<kTrunc>));
  registry.add("aten::logical_not(Tensor self) -> Tensor", one(same<kNot>));
  registry.add("aten::bitwise_not(Tensor self) -> Tensor", one(same<kBitwiseNot>));
  registry.add("aten::isinf(Tensor self) -> Tensor", one(question<kIsInf>));
  registry.add("aten::isnan(Tensor self) -> Tensor", one(question<kIsNan>));
  registry.add("aten::isfinite(Tensor self) -> Tensor", one(question<kIsFinite>));
  registry.add("aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
               one(nanToNum));
}

}  // namespace torchtrt::conversion::converters
