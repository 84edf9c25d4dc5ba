// Rules of the kinds that make steps of int8 or uint8, read them and multiply them.
#include "base/steps.h"
#include "network/inference/inference.h"
#include "network/rules/checks.h"
#include "network/rules/rules.h"
#include "network/rules/spatial.h"

namespace torchtrt::network {
namespace {

constexpr int kScale = 2;  // operands of the products
constexpr int kBias = 3;
constexpr int kResidual = 4;

bool isFloat32(const LayerContext& context, int operand) {
  return context.dtype(operand) == DType::kFloat32;
}

std::string checkFloat32(const LayerContext& context) {
  return isFloat32(context, 0) ? "" : expectedGot("float32", operandText(context, 0));
}

std::string checkSteps(const LayerContext& context) {
  return isSteps(context.dtype(0)) ? "" : expectedGot("int8 or uint8", operandText(context, 0));
}

std::string checkScale(const LayerContext& context, const char* name) {
  const double scale = context.attributes().getDouble(name);
  return isStepScale(scale) ? "" : expectedGot("a normal float32 above zero", name + (" " + std::to_string(scale)));
}

std::string checkStep(const LayerContext& context, const char* name, DType dtype) {
  const int64_t step = context.attributes().getInt(name);
  return isStepOf(dtype, step) ? "" : expectedGot(toString(dtype), name + (" " + std::to_string(step)));
}

std::string checkOwnScale(const LayerContext& context) {
  return checkScale(context, "scale");
}

DType madeDType(const LayerContext& context) {
  return context.attributes().getDType("to");
}

std::string checkMadeSteps(const LayerContext& context) {
  return isSteps(madeDType(context)) ? ""
                                     : expectedGot("int8 or uint8", std::string("to ") + toString(madeDType(context)));
}

// low and high against what is made.
std::string checkLimits(const LayerContext& context) {
  for (const char* name : {"low", "high"}) {
    if (std::string problem = checkStep(context, name, madeDType(context)); !problem.empty()) {
      return problem;
    }
  }
  const int64_t low = context.attributes().getInt("low");
  const int64_t high = context.attributes().getInt("high");
  return low <= high ? "" : expectedGot("low up to high", std::to_string(low) + " and " + std::to_string(high));
}

std::string checkMadeZeroPoint(const LayerContext& context) {
  return checkStep(context, "zero_point", madeDType(context));
}

std::string checkReadZeroPoint(const LayerContext& context) {
  return checkStep(context, "zero_point", context.dtype(0));
}

// ---- products ----

std::string checkProductDTypes(const LayerContext& context) {
  if (std::string problem = checkSteps(context); !problem.empty()) {
    return problem;
  }
  if (context.dtype(1) != DType::kInt8) {
    return expectedGot("int8", operandText(context, 1));
  }
  for (const int operand : {kScale, kBias}) {
    if (context.has(operand) && !isFloat32(context, operand)) {
      return expectedGot("float32", operandText(context, operand));
    }
  }
  const bool holds = !context.has(kResidual) || isFloat32(context, kResidual) || isSteps(context.dtype(kResidual));
  return holds ? "" : expectedGot("float32, int8 or uint8", operandText(context, kResidual));
}

std::string checkChannelVectors(const LayerContext& context, const Dim& channels) {
  const std::string problem = sameDims(context, kScale, {channels});
  return problem.empty() ? sameDims(context, kBias, {channels}) : problem;
}

std::string checkSums(const LayerContext& context, const Dim& products) {
  return context.range(products).first <= kMostStepProducts
             ? ""
             : expectedGot("sums of at most " + std::to_string(kMostStepProducts) + " products", products.toString());
}

std::string checkResidualSteps(const LayerContext& context) {
  if (std::string problem = checkScale(context, "residual_scale"); !problem.empty()) {
    return problem;
  }
  const bool has_steps = context.has(kResidual) && isSteps(context.dtype(kResidual));
  return has_steps ? checkStep(context, "residual_zero_point", context.dtype(kResidual)) : "";
}

std::string checkOutputSteps(const LayerContext& context) {
  const DType to = madeDType(context);
  if (to == DType::kFloat32) {
    return "";
  }
  if (!isSteps(to)) {
    return expectedGot("float32, int8 or uint8", std::string("to ") + toString(to));
  }
  if (std::string problem = checkScale(context, "output_scale"); !problem.empty()) {
    return problem;
  }
  const std::string problem = checkStep(context, "output_zero_point", to);
  return problem.empty() ? checkLimits(context) : problem;
}

std::string checkConvolutionVectors(const LayerContext& context) {
  return checkChannelVectors(context, context.dims(1)[0]);
}

std::string checkConvolutionSums(const LayerContext& context) {
  Dim products = 1;
  for (int i = 1; i < context.rank(1); ++i) {
    products = products * context.dims(1)[i];
  }
  return checkSums(context, products);
}

std::string checkConvolutionResidual(const LayerContext& context) {
  return sameDims(context, kResidual, inferConvolution(context)[0].dims);
}

std::string checkMatrixRanks(const LayerContext& context) {
  if (context.rank(0) < 2) {
    return expectedGot("rank 2 or more", operandText(context, 0));
  }
  return context.rank(1) == 2 ? "" : expectedGot("rank 2", operandText(context, 1));
}

std::string checkInner(const LayerContext& context) {
  const Dims& a = context.dims(0);
  return context.unify(a[a.rank() - 1], context.dims(1)[0])
             ? ""
             : expectedGot("equal inner dims", operandText(context, 0) + " and " + operandText(context, 1));
}

std::string checkMatrixVectors(const LayerContext& context) {
  return checkChannelVectors(context, context.dims(1)[1]);
}

std::string checkMatrixSums(const LayerContext& context) {
  return checkSums(context, context.dims(1)[0]);
}

std::string checkMatrixResidual(const LayerContext& context) {
  return sameDims(context, kResidual, inferQuantizedMatrixMultiply(context)[0].dims);
}

constexpr const char* kProductDTypes =
    "the input is of int8 or uint8, the second operand of int8, scale and bias of float32, the residual of float32, "
    "int8 or uint8";
constexpr const char* kScaleText = "the scale is a normal float32 above zero";
constexpr const char* kVectors = "scale and bias have one element per output channel";
constexpr const char* kSums = "an output sums at most 65793 products, so that int32 holds the sum";
constexpr const char* kResidualDims = "the residual has the output's dims";
constexpr const char* kInputZeroPoint = "the zero point is a value of the input's dtype";
constexpr const char* kResidualSteps =
    "residual_scale is a normal float32 above zero, residual_zero_point a value of the dtype of a residual of steps";
constexpr const char* kOutputSteps =
    "`to` is float32, or int8 or uint8: then output_scale is a normal float32 above zero, output_zero_point, low and "
    "high are values of it, and low is at most high";
constexpr const char* kActivation = "a fused activation is one of ACTIVATION";

}  // namespace

Rules quantizeRules() {
  return {
      {"dtype", "the input is of float32", checkFloat32},
      {"to", "`to` is int8 or uint8", checkMadeSteps},
      {"scale", kScaleText, checkOwnScale},
      {"zero-point", "the zero point is a value of `to`", checkMadeZeroPoint},
      {"limits", "low and high are values of `to`, and low is at most high", checkLimits},
  };
}

Rules dequantizeRules() {
  return {
      {"dtype", "the input is of int8 or uint8", checkSteps},
      {"scale", kScaleText, checkOwnScale},
      {"zero-point", kInputZeroPoint, checkReadZeroPoint},
  };
}

Rules quantizedConvolutionRules() {
  return {
      {"rank", "the input has 1 to 3 spatial dims, and the kernel as many", checkConvolutionRank},
      {"dtype", kProductDTypes, checkProductDTypes},
      {"window",
       "stride, paddings and dilation have one entry per spatial dim; stride and dilation >= 1, paddings >= 0",
       checkConvolutionWindow},
      {"groups", "groups >= 1, and they divide the kernel's first dim", checkGroups},
      {"channels", "the input has groups times the kernel's second dim as channels", checkConvolutionChannels},
      {"vectors", kVectors, checkConvolutionVectors},
      {"sums", kSums, checkConvolutionSums},
      {"output", "the dilated kernel fits into the padded input", checkConvolutionOutput},
      {"residual", kResidualDims, checkConvolutionResidual},
      {"zero-point", kInputZeroPoint, checkReadZeroPoint},
      {"residual-steps", kResidualSteps, checkResidualSteps},
      {"output-steps", kOutputSteps, checkOutputSteps},
      {"activation", kActivation, knownActivation},
  };
}

Rules quantizedMatrixMultiplyRules() {
  return {
      {"rank", "the input has rank 2 or more, the second operand rank 2", checkMatrixRanks},
      {"dtype", kProductDTypes, checkProductDTypes},
      {"inner", "the inner dims are equal", checkInner},
      {"vectors", kVectors, checkMatrixVectors},
      {"sums", kSums, checkMatrixSums},
      {"residual", kResidualDims, checkMatrixResidual},
      {"zero-point", kInputZeroPoint, checkReadZeroPoint},
      {"residual-steps", kResidualSteps, checkResidualSteps},
      {"output-steps", kOutputSteps, checkOutputSteps},
      {"activation", kActivation, knownActivation},
  };
}

}  // namespace torchtrt::network
