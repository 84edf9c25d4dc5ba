#include "lowering/passes/quantization.h"

#include <torch/csrc/jit/ir/constants.h>

#include <cmath>

namespace torchtrt::lowering {

using torch::jit::Value;

namespace {

// Modules hold their scale and zero point as numbers or as tensors of one element.
std::optional<at::Scalar> constantNumber(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (constant && constant->isScalar()) {
    return constant->toScalar();
  }
  if (constant && constant->isTensor() && constant->toTensor().numel() == 1 && !constant->toTensor().is_quantized()) {
    return constant->toTensor().item();
  }
  return std::nullopt;
}

std::optional<Quantization> checked(const Quantization& quantization) {
  const bool has_dtype = quantization.dtype == c10::kQUInt8 || quantization.dtype == c10::kQInt8;
  const bool has_steps =
      quantization.step() > 0 && std::isnormal(quantization.step()) && std::isnormal(quantization.inverse());
  const bool has_zero = quantization.low() <= 0 && quantization.high() >= 0;
  return has_dtype && has_steps && has_zero ? std::optional(quantization) : std::nullopt;
}

}  // namespace

std::optional<Quantization> quantizationOf(const Value* scale, const Value* zero_point, c10::ScalarType dtype) {
  const auto step = constantNumber(scale);
  const auto zero = constantNumber(zero_point);
  return step && zero ? checked({step->toDouble(), zero->toLong(), dtype}) : std::nullopt;
}

std::optional<Quantization> quantizationOf(const at::Tensor& quantized) {
  return quantized.is_quantized() && quantized.qscheme() == at::kPerTensorAffine
             ? checked({quantized.q_scale(), quantized.q_zero_point(), quantized.scalar_type()})
             : std::nullopt;
}

at::Tensor allValues(const Quantization& quantization) {
  const int64_t first = quantization.low() + quantization.zero_point;
  const at::Tensor integers =
      at::arange(first, first + 256).to(quantization.dtype == c10::kQInt8 ? at::kChar : at::kByte);
  return at::_make_per_tensor_quantized_tensor(integers, quantization.scale, quantization.zero_point);
}

at::Tensor centered(const at::Tensor& quantized, const Quantization& quantization) {
  return quantized.int_repr().to(at::kFloat) - quantization.zero_point;
}

Value* FloatBuilder::call(const char* kind, at::ArrayRef<torch::jit::NamedValue> arguments,
                          at::ArrayRef<torch::jit::NamedValue> by_name) {
  return graph_.insert(c10::Symbol::fromQualString(kind), arguments, by_name);
}

Value* FloatBuilder::constant(const at::Tensor& tensor) {
  Value* value = graph_.insertConstant(tensor);
  value->setType(c10::TensorType::get());
  return value;
}

Value* FloatBuilder::roundAndClamp(Value* x, int64_t low, int64_t high) {
  return call("aten::clamp", {call("aten::round", {x}), low, high});
}

Value* FloatBuilder::roundAndClamp(Value* x, const Quantization& to) {
  return roundAndClamp(x, to.low(), to.high());
}

Value* FloatBuilder::cast(Value* x, c10::ScalarType dtype) {
  return call("aten::to", {x, static_cast<int64_t>(dtype), false, false, torch::jit::IValue()});
}

}  // namespace torchtrt::lowering
