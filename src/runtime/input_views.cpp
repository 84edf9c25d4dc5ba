#include "runtime/input_views.h"

#include "runtime/dtypes.h"

namespace torchtrt::runtime {

namespace {

std::string described(size_t i, const Engine& engine) {
  const auto& bindings = engine.engine().inputs();
  const std::string name = i < bindings.size() ? " (\"" + bindings[i].name + "\")" : "";
  return "input " + std::to_string(i) + name + " of engine \"" + engine.name() + "\"";
}

engine::TensorView viewOf(at::Tensor& tensor, size_t i, const Engine& engine) {
  if (!tensor.defined() || tensor.layout() != at::kStrided) {
    const std::string got = tensor.defined() ? c10::str(tensor.layout()) : "no tensor";
    throw EngineError(ErrorCode::kInputDType, described(i, engine) + " is not a dense tensor, got " + got, {},
                      "call .to_dense() on it");
  }
  if (!tensor.is_cpu() && !tensor.is_meta()) {
    throw EngineError(ErrorCode::kInputDevice,
                      described(i, engine) + " is on device " + tensor.device().str() + ", expected cpu", {},
                      "move it with .to(\"cpu\")");
  }
  const std::optional<DType> dtype = dtypeOf(tensor.scalar_type());
  if (!dtype) {
    throw EngineError(
        ErrorCode::kInputDType,
        described(i, engine) + " has dtype " + c10::toString(tensor.scalar_type()) + ", which no engine computes with");
  }
  // Lazy negation and zero tensors have no memory that says what they are.
  if (tensor.is_neg() || tensor._is_zerotensor()) {
    tensor = tensor.clone();
  }
  const void* data = tensor.is_meta() ? nullptr : tensor.const_data_ptr();
  return {*dtype, static_cast<int32_t>(tensor.dim()), tensor.sizes().data(), tensor.strides().data(), data};
}

}  // namespace

InputViews::InputViews(std::vector<at::Tensor>& inputs, const Engine& engine) {
  views_.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    views_.push_back(viewOf(inputs[i], i, engine));
  }
}

}  // namespace torchtrt::runtime
