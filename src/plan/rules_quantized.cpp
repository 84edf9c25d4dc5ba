// Families of steps of int8 and uint8: quantize, dequantize, quantized convolution and matrix multiply.
#include "base/saturating.h"
#include "base/steps.h"
#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

constexpr size_t kScale = 2;  // operands of the products
constexpr size_t kBias = 3;
constexpr size_t kResidual = 4;

void requireSteps(const StepChecker& step, const StepChecker::Value& value) {
  step.require(isSteps(value.dtype), "a quantized operand is not int8 or uint8");
}

void requireScale(const StepChecker& step, const char* name) {
  step.require(isStepScale(step.attributes().getDouble(name)), "a scale is not a normal float32 above zero");
}

void requireStep(const StepChecker& step, const char* name, DType dtype) {
  step.require(isStepOf(dtype, step.attributes().getInt(name)), "a zero point or limit is out of range");
}

// What turns float32 into steps of `to`.
void requireQuantizer(const StepChecker& step, DType to, const char* scale, const char* zero_point) {
  step.require(isSteps(to), "it makes neither int8 nor uint8");
  requireScale(step, scale);
  for (const char* name : {zero_point, "low", "high"}) {
    requireStep(step, name, to);
  }
  step.require(step.attributes().getInt("low") <= step.attributes().getInt("high"), "its limits are upside down");
}

void checkQuantize(const StepChecker& step) {
  step.requirePresent(1);
  step.require(step.in(0).dtype == DType::kFloat32, "its input is not float32");
  const DType to = step.attributes().getDType("to");
  requireQuantizer(step, to, "scale", "zero_point");
  step.requireOutput(0, step.in(0).dims, to);
}

void checkDequantize(const StepChecker& step) {
  step.requirePresent(1);
  requireSteps(step, step.in(0));
  requireScale(step, "scale");
  requireStep(step, "zero_point", step.in(0).dtype);
  step.requireOutput(0, step.in(0).dims, DType::kFloat32);
}

// What both products share. `out`: dims of the output; `products`: how many are summed for one.
void requireProduct(const StepChecker& step, const Shape& out, int64_t channels, int64_t products) {
  requireSteps(step, step.in(0));
  step.require(step.in(1).dtype == DType::kInt8, "its second operand is not int8");
  step.require(products <= kMostStepProducts, "its sums are too long for int32");
  step.require(step.in(kScale).present, "the scale is missing");
  for (const size_t operand : {kScale, kBias}) {
    const auto& vector = step.in(operand);
    step.require(!vector.present || (vector.dtype == DType::kFloat32 && vector.dims == Shape{channels}),
                 "scale or bias has not one float32 per channel");
  }
  requireStep(step, "zero_point", step.in(0).dtype);
  requireScale(step, "residual_scale");
  if (const auto& residual = step.in(kResidual); residual.present) {
    step.require(residual.dims == out, "the residual has not the output's dimensions");
    if (residual.dtype != DType::kFloat32) {
      requireSteps(step, residual);
      requireStep(step, "residual_zero_point", residual.dtype);
    }
  }
  const DType to = step.attributes().getDType("to");
  if (to != DType::kFloat32) {
    requireQuantizer(step, to, "output_scale", "output_zero_point");
  }
  step.requireActivation();
  step.requireOutput(0, out, to);
}

void checkQuantizedConvolution(const StepChecker& step) {
  const Shape out = convolvedShape(step);
  int64_t products = 1;
  for (size_t axis = 1; axis < step.in(1).rank(); ++axis) {
    products = saturatingMul(products, step.in(1).dims[axis]);
  }
  requireProduct(step, out, out[1], products);
}

void checkQuantizedMatrixMultiply(const StepChecker& step) {
  step.requirePresent(2);
  const auto& a = step.in(0);
  const auto& b = step.in(1);
  step.require(a.rank() >= 2 && b.rank() == 2, "its operands have a wrong rank");
  step.require(a.dims.back() == b.dims[0], "the inner dimensions of its operands differ");
  Shape out = a.dims;
  out.back() = b.dims[1];
  requireProduct(step, out, b.dims[1], b.dims[0]);
}

}  // namespace

bool checkQuantized(const StepChecker& step) {
  const std::string& family = step.step().family;
  if (family == "quantize") {
    checkQuantize(step);
  } else if (family == "dequantize") {
    checkDequantize(step);
  } else if (family == "quantized_convolution") {
    checkQuantizedConvolution(step);
  } else if (family == "quantized_matrix_multiply") {
    checkQuantizedMatrixMultiply(step);
  } else {
    return false;
  }
  return true;
}

}  // namespace torchtrt::plan
