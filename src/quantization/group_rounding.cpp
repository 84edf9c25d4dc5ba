#include "quantization/group_rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace torchtrt::quantization {

using network::Weights;

namespace {

struct Group {
  float scale = 0;
  int64_t zero_point = 0;
};

float normalOrZero(double scale) {
  const auto rounded = static_cast<float>(scale);
  return std::abs(rounded) < std::numeric_limits<float>::min() ? 0.0F : rounded;
}

Group symmetricGroup(std::span<const float> values, int64_t least) {
  float extreme = 0;
  for (const float value : values) {
    extreme = std::abs(value) > std::abs(extreme) ? value : extreme;
  }
  return {normalOrZero(static_cast<double>(extreme) / static_cast<double>(least)), 0};
}

Group groupWithZeroPoint(std::span<const float> values, int64_t least, int64_t most) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double from = std::min<double>(*low, 0);
  const double to = std::max<double>(*high, 0);
  const float scale = normalOrZero((to - from) / static_cast<double>(most - least));
  if (scale == 0) {
    return {};
  }
  const int64_t zero_point = least - std::llround(from / static_cast<double>(scale));
  return {scale, std::clamp(zero_point, least, most)};
}

}  // namespace

RoundedMatrix roundByGroups(std::span<const float> values, int64_t depth, int64_t bits, int64_t group_size,
                            bool has_zero_points) {
  const int64_t least = bits == 4 ? -8 : -128;
  const int64_t most = -least - 1;
  const int64_t groups = static_cast<int64_t>(values.size()) / group_size;
  const int64_t rows = static_cast<int64_t>(values.size()) / depth;
  const std::vector<int64_t> group_dims = {rows, depth / group_size};
  void* weight_memory = nullptr;
  void* scale_memory = nullptr;
  void* offset_memory = nullptr;
  RoundedMatrix rounded;
  rounded.weights = bits == 4 ? Weights::allocate(DType::kUInt8, {rows, depth / 2}, &weight_memory)
                              : Weights::allocate(DType::kInt8, {rows, depth}, &weight_memory);
  rounded.scale = Weights::allocate(DType::kFloat32, group_dims, &scale_memory);
  if (has_zero_points) {
    rounded.offset = Weights::allocate(DType::kFloat32, group_dims, &offset_memory);
  }
  auto* const bytes = static_cast<uint8_t*>(weight_memory);
  for (int64_t g = 0; g < groups; ++g) {
    const auto first = static_cast<size_t>(g * group_size);
    const std::span<const float> group = values.subspan(first, static_cast<size_t>(group_size));
    const auto [scale, zero_point] =
        has_zero_points ? groupWithZeroPoint(group, least, most) : symmetricGroup(group, least);
    static_cast<float*>(scale_memory)[g] = scale;
    if (has_zero_points) {
      static_cast<float*>(offset_memory)[g] = -static_cast<float>(zero_point) * scale;
    }
    for (size_t i = 0; i < group.size(); ++i) {
      const double steps = scale == 0 ? 0 : std::nearbyint(static_cast<double>(group[i]) / static_cast<double>(scale));
      const auto q = static_cast<int64_t>(
          std::clamp(steps + static_cast<double>(zero_point), static_cast<double>(least), static_cast<double>(most)));
      if (bits == 8) {
        bytes[first + i] = static_cast<uint8_t>(q);
      } else if (i % 2 == 0) {
        bytes[(first + i) / 2] = static_cast<uint8_t>(q & 15);
      } else {
        bytes[(first + i) / 2] = static_cast<uint8_t>(bytes[(first + i) / 2] | (q & 15) << 4);
      }
    }
  }
  return rounded;
}

}  // namespace torchtrt::quantization
