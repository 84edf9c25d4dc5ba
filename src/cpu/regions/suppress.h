// Chooses which of overlapping boxes are kept: torchvision's nms, to the bit. Plain arithmetic, shared with src/vision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace torchtrt::kernels::regions {

/// Boxes by side, so that one is held against many in the order of memory.
template <typename T>
struct Boxes {
  /// `corners`: [count, 4], row-major: left, top, right, bottom.
  Boxes(const T* corners, int64_t count) {
    for (int side = 0; side < 4; ++side) {
      sides[side].reserve(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) {
        sides[side].push_back(corners[4 * i + side]);
      }
    }
    areas.reserve(static_cast<size_t>(count));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      areas.push_back((sides[2][i] - sides[0][i]) * (sides[3][i] - sides[1][i]));
    }
  }

  /// Intersection over union. The operands' order decides where a coordinate is NaN: the maximum of 0 and NaN is 0.
  T overlap(size_t a, size_t b) const {
    const T width = std::min(sides[2][a], sides[2][b]) - std::max(sides[0][a], sides[0][b]);
    const T height = std::min(sides[3][a], sides[3][b]) - std::max(sides[1][a], sides[1][b]);
    const T intersection = std::max(T(0), width) * std::max(T(0), height);
    return intersection / (areas[a] + areas[b] - intersection);
  }

  std::vector<T> sides[4];
  std::vector<T> areas;
};

/// Numbers of the boxes that no better one overlaps by more than the threshold, best first. `order`: all, best first.
template <typename T>
std::vector<int64_t> keptBoxes(const T* corners, const int64_t* order, int64_t count, double iou_threshold) {
  const Boxes<T> boxes(corners, count);
  const auto all = static_cast<size_t>(count);
  std::vector<char> removed(all, 0);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < all; ++i) {
    const auto best = static_cast<size_t>(order[i]);
    if (removed[best]) {
      continue;
    }
    kept.push_back(order[i]);
    for (size_t j = i + 1; j < all; ++j) {
      const auto other = static_cast<size_t>(order[j]);
      if (!removed[other] && boxes.overlap(best, other) > iou_threshold) {
        removed[other] = 1;
      }
    }
  }
  return kept;
}

}  // namespace torchtrt::kernels::regions
