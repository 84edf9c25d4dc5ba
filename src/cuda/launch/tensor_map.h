// Tensor maps: how a kernel's copies of boxes see a tensor of bytes (text/tensor_maps.cuh). The driver encodes one for
// each pointer. GPUs of compute capability 9.0 and newer have them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/driver/driver.h"

namespace torchtrt::cuda {

struct TensorMap {
  using Encoded = std::array<std::byte, 128>;  // CUtensorMap, at a multiple of 64

  std::vector<uint64_t> dims;     // from the innermost on
  std::vector<uint64_t> strides;  // in bytes, of all dims but the innermost: multiples of 16
  std::vector<uint32_t> box;      // places from the first to behind the last; of the innermost dim 64 or 128
  std::vector<uint32_t> steps;    // a box has every such place of a dim; empty for all

  // For a tensor that begins there, at a multiple of 16 bytes. Throws as check() does if the driver refuses it.
  void encode(DevicePointer begin, void* to) const;
};

}  // namespace torchtrt::cuda
