#include "cuda/quantized/packed_steps.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/align.h"
#include "cuda/launch/aligned.h"

namespace torchtrt::cuda {

namespace {

int64_t inChunks(int64_t bytes) {
  return roundUp(bytes, kChunkBytes);
}

// Lines, then corrections, then padding.
std::vector<std::byte> packed(const int8_t* weights, int64_t columns, int64_t column_step,
                              const std::vector<int64_t>& depth_steps, int32_t zero_point) {
  const int64_t depth = inChunks(static_cast<int64_t>(depth_steps.size()));
  std::vector<std::byte> bytes(static_cast<size_t>(columns * depth + inChunks(columns * 4) + kChunkBytes));
  std::byte* const corrections = bytes.data() + columns * depth;
  for (int64_t column = 0; column < columns; ++column) {
    int32_t sum = 0;
    std::byte* const line = bytes.data() + column * depth;
    for (size_t k = 0; k < depth_steps.size(); ++k) {
      const int8_t weight = depth_steps[k] < 0 ? int8_t{0} : weights[column * column_step + depth_steps[k]];
      line[k] = static_cast<std::byte>(weight);
      sum += weight;
    }
    const auto correction = static_cast<uint32_t>(sum) * static_cast<uint32_t>(zero_point);
    std::memcpy(corrections + column * 4, &correction, sizeof(correction));
  }
  std::memset(corrections + inChunks(columns * 4), zero_point & 0xff, kChunkBytes);
  return bytes;
}

// The greatest sum of the absolute values of a line.
int64_t mostOf(const int8_t* weights, int64_t columns, int64_t column_step, const std::vector<int64_t>& depth_steps) {
  int64_t most = 0;
  for (int64_t column = 0; column < columns; ++column) {
    int64_t sum = 0;
    for (const int64_t step : depth_steps) {
      sum += step < 0 ? 0 : std::abs(int64_t{weights[column * column_step + step]});
    }
    most = std::max(most, sum);
  }
  return most;
}

// The most that the other factor is, with its zero point taken off or not.
constexpr int64_t kMostStep = 255, kSmall = int64_t{1} << 22;

}  // namespace

PackedSteps::PackedSteps(const int8_t* weights, int64_t columns, int64_t column_step,
                         const std::vector<int64_t>& depth_steps, int32_t zero_point)
    : columns_(columns),
      depth_(inChunks(static_cast<int64_t>(depth_steps.size()))),
      zero_point_(zero_point),
      has_small_sums_(mostOf(weights, columns, column_step, depth_steps) * kMostStep < kSmall),
      table_(packed(weights, columns, column_step, depth_steps, zero_point), "weights of an int8 product") {}

DevicePointer PackedSteps::weights(const CudaDevice& device) {
  return table_.onDevice(device);
}

DevicePointer PackedSteps::corrections(const CudaDevice& device) {
  return weights(device) + static_cast<DevicePointer>(columns_ * depth_);
}

DevicePointer PackedSteps::padding(const CudaDevice& device) {
  return corrections(device) + static_cast<DevicePointer>(inChunks(columns_ * 4));
}

}  // namespace torchtrt::cuda
