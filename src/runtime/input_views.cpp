#include "runtime/input_views.h"

#include "runtime/dtypes.h"

namespace torchtrt::runtime {

namespace {

std::string described(size_t i, const Engine& engine) {
  const auto& bindings = engine.engine().inputs();
  const std::string name = i < bindings.size() ? " (\"" + bindings[i].name + "\")" : "";
  return "input " + std::to_string(i) + name + " of engine \"" + engine.name() + "\"";
}

// Numbers on the CPU go with tensors of every device, as in PyTorch.
at::Tensor moved(const at::Tensor& tensor, size_t i, const Engine& engine) {
  if (tensor.is_cpu() && tensor.dim() == 0) {
    return tensor.to(engine.device());
  }
  const std::string here = engine.device().str();
  const std::string there = tensor.device().str();
  throw EngineError(
      ErrorCode::kInputDevice,
      described(i, engine) + " is on device " + there + ", expected " + here +
          ", where the engine runs (.to(device) moves a module's parameters, and no engine)",
      {}, "move it with .to(\"" + here + "\"), or save the module and load it with map_location=\"" + there + "\"");
}

engine::TensorView viewOf(at::Tensor& tensor, size_t i, const Engine& engine, const at::Device& device) {
  if (!tensor.defined() || tensor.layout() != at::kStrided) {
    const std::string got = tensor.defined() ? c10::str(tensor.layout()) : "no tensor";
    throw EngineError(ErrorCode::kInputDType, described(i, engine) + " is not a dense tensor, got " + got, {},
                      "call .to_dense() on it");
  }
  if (tensor.device() != device && !tensor.is_meta()) {
    tensor = moved(tensor, i, engine);
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

InputViews::InputViews(std::vector<at::Tensor>& inputs, const Engine& engine, const at::Device& device) {
  views_.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    views_.push_back(viewOf(inputs[i], i, engine, device));
  }
}

}  // namespace torchtrt::runtime
