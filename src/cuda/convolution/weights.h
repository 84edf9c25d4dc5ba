// Weights of a convolution, with channels as the last dim: what tensor cores read.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/launch/steps.h"
#include "cuda/launch/table.h"
#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Rearranged on the host, and copied to the device when they are first asked for.
class PackedWeights {
 public:
  // Null where the weights are computed, or lie so anyway.
  static std::shared_ptr<PackedWeights> of(const kernels::Problem& problem);

  PackedWeights(Ints strides, std::vector<std::byte> data)
      : strides_(std::move(strides)), table_(std::move(data), "weights of a convolution") {}

  size_t bytes() const {
    return table_.bytes();
  }
  // Returns the weights in the device's memory, with strides in the order of the weights' own dims.
  Strided onDevice(const CudaDevice& device);

 private:
  Ints strides_;
  Table table_;
};

// Dense strides of [batch, channels, places...] with the channels last, or in the order of the dims.
Ints imageStrides(const Ints& dims, bool channels_last);
// True if elements lie by those strides; a dim of 1 may have any.
bool lies(const Ints& dims, const Ints& strides, bool channels_last);

}  // namespace torchtrt::cuda
