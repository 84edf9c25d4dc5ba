#include "random_inputs.h"

namespace torchtrtc {
namespace {

at::ScalarType scalarType(torch_tensorrt::DataType dtype) {
  switch (dtype) {
    case torch_tensorrt::DataType::kLong:
      return at::kLong;
    case torch_tensorrt::DataType::kDouble:
      return at::kDouble;
    case torch_tensorrt::DataType::kHalf:
      return at::kHalf;
    case torch_tensorrt::DataType::kChar:
      return at::kChar;
    case torch_tensorrt::DataType::kInt:
      return at::kInt;
    case torch_tensorrt::DataType::kBool:
      return at::kBool;
    case torch_tensorrt::DataType::kBFloat16:
      return at::kBFloat16;
    case torch_tensorrt::DataType::kByte:
      return at::kByte;
    case torch_tensorrt::DataType::kShort:
      return at::kShort;
    default:
      return at::kFloat;
  }
}

}  // namespace

std::vector<torch::jit::IValue> randomInputs(const std::vector<torch_tensorrt::Input>& specs, int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(seed));
  std::vector<torch::jit::IValue> inputs;
  for (const auto& spec : specs) {
    const at::ScalarType type = scalarType(spec.dtype);
    at::Tensor tensor;
    if (at::isFloatingType(type)) {
      tensor = at::randn(spec.opt_shape).to(type);
    } else {
      const auto low = static_cast<int64_t>(spec.tensor_domain[0]);
      const auto high = std::max(low + 1, static_cast<int64_t>(spec.tensor_domain[1]));
      tensor = at::randint(low, high, spec.opt_shape).to(type);
    }
    if (spec.format == torch_tensorrt::TensorFormat::kChannelsLast && tensor.dim() == 4) {
      tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
    }
    inputs.emplace_back(tensor);
  }
  return inputs;
}

}  // namespace torchtrtc
