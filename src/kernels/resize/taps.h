// Taps are the input positions that make up an output position along one axis, with their weights. They follow
// PyTorch's index rules in its precision (float, or double for float64), so that roundings at the edges of cells agree.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "torchtrt/export.h"

namespace torchtrt::kernels {

enum class ResizeMode : uint8_t { kNearest, kNearestExact, kLinear, kCubic };

// Up to four neighbours; unused ones are absent, see tapCount().
struct Taps {
  std::array<int64_t, 4> index{};
  std::array<double, 4> weight{1, 0, 0, 0};
};

constexpr int tapCount(ResizeMode mode) {
  return mode == ResizeMode::kCubic ? 4 : mode == ResizeMode::kLinear ? 2 : 1;
}

struct ResizeAxis {
  ResizeMode mode = ResizeMode::kNearest;
  bool align_corners = false;
  double scale = 0;  // the scale factor asked for, 0 when only sizes are known
  // Equal sizes are a copy, and nearest elements of twice the size repeat each element twice, whatever the scale
  // factor. Some of PyTorch's kernels do so.
  bool copies_equal = false;
  int64_t in = 0, out = 0;
};

// Input cells per output cell.
template <typename T>
T inputStep(const ResizeAxis& axis);

// One entry per output position. T is float or double.
template <typename T>
std::vector<Taps> resizeTaps(const ResizeAxis& axis);

// Interpolation of 8-bit images: weights are integers in units of 2^-shift, and every axis is rounded to bytes, width
// first.
struct ByteTaps {
  struct Entry {
    std::array<int64_t, 4> index{};
    std::array<int32_t, 4> weight{};
  };
  std::vector<Entry> entries;
  int shift = 0;
};
TORCHTRT_API ByteTaps byteTaps(const ResizeAxis& axis);
TORCHTRT_API int byteShift(double greatest_weight);  // as precise as 16 bits allow

extern template TORCHTRT_API float inputStep<float>(const ResizeAxis& axis);
extern template TORCHTRT_API double inputStep<double>(const ResizeAxis& axis);
extern template TORCHTRT_API std::vector<Taps> resizeTaps<float>(const ResizeAxis& axis);
extern template TORCHTRT_API std::vector<Taps> resizeTaps<double>(const ResizeAxis& axis);

}  // namespace torchtrt::kernels
