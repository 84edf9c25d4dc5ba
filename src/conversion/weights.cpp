#include "torchtrt/conversion.h"

namespace torchtrt::conversion {
namespace {

network::Weights shareStorage(const at::Tensor& tensor) {
  const auto kept = std::make_shared<at::Tensor>(tensor.detach().to(at::kCPU).contiguous());
  network::Weights weights;
  weights.dtype = util::toDType(kept->scalar_type());
  weights.dims = kept->sizes().vec();
  weights.data = std::shared_ptr<const void>(kept, kept->const_data_ptr());
  return weights;
}

}  // namespace

Weights::Weights(ConversionCtx*, const at::Tensor& tensor) : data(shareStorage(tensor)), shape(tensor.sizes().vec()) {
  num_output_maps = shape.empty() ? 1 : shape[0];
  num_input_maps = shape.size() < 2 ? 1 : shape[1];
  if (shape.size() > 2) {
    kernel_shape.assign(shape.begin() + 2, shape.end());
  }
}

std::ostream& operator<<(std::ostream& out, const Weights& weights) {
  return out << toString(weights.data.dtype) << c10::IntArrayRef(weights.shape) << ", " << weights.num_output_maps
             << " output maps, " << weights.num_input_maps << " input maps, kernel "
             << c10::IntArrayRef(weights.kernel_shape);
}

Weights::Weights(ConversionCtx* ctx, float value) : Weights(ctx, at::scalar_tensor(value, at::kFloat)) {}
Weights::Weights(ConversionCtx* ctx, double value) : Weights(ctx, at::scalar_tensor(value, at::kDouble)) {}
Weights::Weights(ConversionCtx* ctx, int32_t value) : Weights(ctx, at::scalar_tensor(value, at::kInt)) {}
Weights::Weights(ConversionCtx* ctx, int64_t value) : Weights(ctx, at::scalar_tensor(value, at::kLong)) {}

}  // namespace torchtrt::conversion
