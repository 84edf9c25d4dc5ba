// The square tiles of Winograd's form over the images of a batch, for float32 and for integers.
#pragma once

#include <cstdint>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

// The place of a tile, or of a pixel, in the output.
struct TilePlace {
  int64_t image;
  int64_t y;  // of the first output pixel, as is x
  int64_t x;
};

class TileGrid {
 public:
  TileGrid() = default;
  // tile: output pixels in height and in width.
  TileGrid(const Image& output, int64_t tile)
      : tile_(tile),
        rows_(along(output.size[1])),
        columns_(along(output.size[2])),
        count_(output.batch * rows_ * columns_) {}

  int64_t count() const {
    return count_;
  }
  TilePlace at(int64_t index) const {
    const int64_t x = index % columns_;
    index /= columns_;
    return {index / rows_, tile_ * (index % rows_), tile_ * x};
  }

 private:
  int64_t along(int64_t size) const {
    return (size + tile_ - 1) / tile_;
  }

  int64_t tile_ = 1;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  int64_t count_ = 0;
};

// The input pixel that output `place` reads with the first tap, moved by `y` and `x`; null in the padding.
template <typename T>
const T* pixelUnder(const TilePlace& place, const Geometry& g, const Image& input, const void* images, int64_t y,
                    int64_t x) {
  y += place.y * g.stride[1] - g.pre_padding[1];
  x += place.x * g.stride[2] - g.pre_padding[2];
  if (y < 0 || y >= input.size[1] || x < 0 || x >= input.size[2]) {
    return nullptr;
  }
  return static_cast<const T*>(images) + place.image * input.batch_stride + y * input.stride[1] + x * input.stride[2];
}

}  // namespace torchtrt::kernels::convolution
