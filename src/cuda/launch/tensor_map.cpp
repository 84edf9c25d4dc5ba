#include "cuda/launch/tensor_map.h"

#include "base/check.h"

namespace torchtrt::cuda {

void TensorMap::encode(DevicePointer begin, void* to) const {
  constexpr int kBytes = 0;                   // CU_TENSOR_MAP_DATA_TYPE_UINT8
  constexpr int kOrder64 = 2, kOrder128 = 3;  // CU_TENSOR_MAP_SWIZZLE_64B, ..._128B
  constexpr int kReadAhead = 3;               // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
  constexpr int kNotInterleaved = 0, kZeros = 0;
  constexpr uint32_t kOnes[] = {1, 1, 1, 1, 1};
  TORCHTRT_CHECK(strides.size() + 1 == dims.size(), "a tensor map has a stride for each dim but the innermost");
  const int order = box.at(0) == 64 ? kOrder64 : kOrder128;
  const auto rank = static_cast<uint32_t>(dims.size());
  void* const address = reinterpret_cast<void*>(begin);
  check(driver().encodeTensor(to, kBytes, rank, address, dims.data(), strides.data(), box.data(),
                              steps.empty() ? kOnes : steps.data(), kNotInterleaved, order, kReadAhead, kZeros),
        "describing a tensor to the GPU");
}

}  // namespace torchtrt::cuda
