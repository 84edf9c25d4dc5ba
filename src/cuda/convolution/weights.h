// Weights of a convolution, with channels as the last dim: what tensor cores read.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cuda/launch/steps.h"
#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Rearranged on the host, and copied to the device when they are first asked for.
class PackedWeights {
 public:
  // Null where the weights are computed, or lie so anyway.
  static std::shared_ptr<PackedWeights> of(const kernels::Problem& problem);

  size_t bytes() const {
    return bytes_;
  }
  // In the device's memory, with strides in the order of the weights' own dims.
  Strided onDevice(const CudaDevice& device);

 private:
  Ints strides_;
  size_t bytes_ = 0;
  std::mutex mutex_;
  std::vector<std::byte> host_;  // until the copy
  device::Memory memory_;
};

// Dense strides of [batch, channels, places...] with the channels last, or in the order of the dims.
Ints imageStrides(const Ints& dims, bool channels_last);
// True if elements lie by those strides; a dim of 1 may have any.
bool lies(const Ints& dims, const Ints& strides, bool channels_last);

}  // namespace torchtrt::cuda
