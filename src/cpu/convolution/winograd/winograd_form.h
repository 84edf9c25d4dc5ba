// The forms of Winograd's 3x3 convolution and their sizes. choice.cpp tells which costs least.
#pragma once

#include <cstdint>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

// Tiles of 2x2 and of 4x4 outputs with stride 1, and of 2x2 outputs with stride 2.
enum class WinogradForm : uint8_t { kSmall, kLarge, kStrided };

struct WinogradSizes {
  int64_t tile;    // outputs of a tile, in height and in width
  int64_t side;    // input pixels that it reads, and products that it is made of, in height and in width
  int64_t stride;  // of the convolution
  int64_t lines;   // of a kernel in this form; product (y, x) has kernel (y, x), the last for those beyond

  int64_t patch() const {
    return side * side;
  }
  int64_t kernels() const {
    return lines * lines;
  }
  int64_t kernelOf(int64_t product) const;
};
WinogradSizes sizesOf(WinogradForm form);

inline constexpr int64_t kWinogradTaps = 9;

// Vectors of this many floats, the longest, divide the channels and the outputs.
inline constexpr int64_t kWinogradVector = 16;

// True for what the forms compute: 2-d, 3x3, undilated, of stride 1 or 2, and whole vectors in each group.
bool isWinogradShape(const Geometry& geometry);

// Tiles that cover an image.
inline int64_t tilesAlong(int64_t tile, int64_t size) {
  return (size + tile - 1) / tile;
}

}  // namespace torchtrt::kernels::convolution
