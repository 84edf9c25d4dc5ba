// Bilinear samples of one channel, as torchvision's operators on regions take them: positions up to one pixel outside
// count as the border's. Arithmetic in T (which may be a half type) and in torchvision's order, so that results are
// its bit for bit. For the engine's plugins and for the operators of src/vision; includes nothing of either.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace torchtrt::kernels::regions {

/// A batch of images [n, channels, height, width], row-major.
template <typename T>
struct Images {
  const T* data;
  int64_t channels, height, width;

  int64_t plane() const {
    return height * width;
  }
  const T* channel(int64_t image, int64_t index) const {
    return data + (image * channels + index) * plane();
  }
};

/// Four neighbours in a channel of height x width, and their weights; all weights are 0 outside of the channel.
template <typename T>
struct Sample {
  int64_t at[4] = {0, 0, 0, 0};
  T weight[4] = {T(0), T(0), T(0), T(0)};

  Sample(T y, T x, int64_t height, int64_t width) {
    if (y < -1.0 || y > static_cast<double>(height) || x < -1.0 || x > static_cast<double>(width)) {
      return;
    }
    const Neighbours rows(y, height);
    const Neighbours columns(x, width);
    at[0] = rows.low * width + columns.low;
    at[1] = rows.low * width + columns.high;
    at[2] = rows.high * width + columns.low;
    at[3] = rows.high * width + columns.high;
    weight[0] = rows.low_weight * columns.low_weight;
    weight[1] = rows.low_weight * columns.high_weight;
    weight[2] = rows.high_weight * columns.low_weight;
    weight[3] = rows.high_weight * columns.high_weight;
  }

  T of(const T* channel) const {
    return weight[0] * channel[at[0]] + weight[1] * channel[at[1]] + weight[2] * channel[at[2]] +
           weight[3] * channel[at[3]];
  }

 private:
  struct Neighbours {
    Neighbours(T position, int64_t size) {
      if (position <= T(0)) {
        position = T(0);
      }
      // NaN has no neighbours: its weights make the sample NaN.
      low = std::isnan(static_cast<float>(position)) ? 0 : static_cast<int64_t>(position);
      high = low + 1;
      if (low >= size - 1) {
        low = high = size - 1;
        position = static_cast<T>(low);
      }
      high_weight = position - static_cast<T>(low);
      low_weight = static_cast<T>(1.0 - high_weight);
    }

    int64_t low, high;
    T low_weight, high_weight;
  };
};

/// The number of samples that a cell takes along one axis, where the region is `extent` pixels long. Below 0, which is
/// none, where a region ends before it begins: the means that are not taken over them divide by the product of both
/// axes.
template <typename T>
int64_t samplesPerCell(T extent, int64_t pooled, int64_t sampling_ratio) {
  if (sampling_ratio > 0) {
    return sampling_ratio;
  }
  const auto cell = static_cast<double>(std::ceil(static_cast<float>(extent / static_cast<T>(pooled))));
  return std::abs(cell) < 1e9 ? static_cast<int64_t>(cell) : 0;
}

/// The coordinate of sample `index` of `count` in cell `cell` of a region from `start` with cells `size` pixels long.
template <typename T>
T samplePosition(T start, T size, int64_t cell, int64_t index, int64_t count) {
  const T cell_start = start + static_cast<T>(cell) * size;
  return cell_start + static_cast<T>(static_cast<float>(index) + .5f) * size / static_cast<T>(count);
}

}  // namespace torchtrt::kernels::regions
