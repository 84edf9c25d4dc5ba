#include "cuda/convolution/weights.h"

#include <cstring>
#include <utility>

namespace torchtrt::cuda {

Ints imageStrides(const Ints& dims, bool channels_last) {
  std::vector<uint8_t> order;
  if (channels_last) {
    order.push_back(0);
    for (size_t axis = 2; axis < dims.size(); ++axis) {
      order.push_back(static_cast<uint8_t>(axis));
    }
    order.push_back(1);
  }
  return kernels::denseStrides(dims, order);
}

bool lies(const Ints& dims, const Ints& strides, bool channels_last) {
  const Ints dense = imageStrides(dims, channels_last);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 1 && strides[axis] != dense[axis]) {
      return false;
    }
  }
  return true;
}

std::shared_ptr<PackedWeights> PackedWeights::of(const kernels::Problem& problem) {
  const kernels::Operand& weights = problem.inputs.at(1);
  if (weights.constant == nullptr) {
    return nullptr;
  }
  const Ints& dims = weights.dims;
  const int64_t all = countOf(dims), outer = dims[0], channels = dims[1];
  const int64_t places = all == 0 ? 0 : all / (outer * channels);
  if (channels <= 1 || places <= 1) {
    return nullptr;
  }
  const size_t size = sizeOf(weights.dtype);
  std::vector<std::byte> packed(static_cast<size_t>(all) * size);
  const auto* const from = static_cast<const std::byte*>(weights.constant);
  for (int64_t i = 0; i < outer; ++i) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t place = 0; place < places; ++place) {
        const auto source = static_cast<size_t>((i * channels + channel) * places + place);
        const auto target = static_cast<size_t>((i * places + place) * channels + channel);
        std::memcpy(packed.data() + target * size, from + source * size, size);
      }
    }
  }
  return std::make_shared<PackedWeights>(imageStrides(dims, true), std::move(packed));
}

Strided PackedWeights::onDevice(const CudaDevice& device) {
  return {Place::fixed(table_.onDevice(device)), strides_};
}

}  // namespace torchtrt::cuda
