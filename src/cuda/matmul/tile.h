// Tiles of matmul/tile_product.cuh, by which blocks share a product on tensor cores, and the choice among them by time.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

// Windows of convolution/windows.cuh over an image whose channels lie dense.
struct Windows {
  int channels, kernel_w;
  int height, width, out_height, out_width;
  int stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;
  int64_t image, y, x;        // strides of the image in elements
  DevicePointer padding = 0;  // 16 bytes that stand beside the image; zeros if null
};

// A product as tiles see it: elements of 16 bits, or pairs of bytes.
struct TiledProduct {
  int64_t rows = 0, columns = 0, depth = 0;
  bool has_windows = false;  // rows are windows of an image
};

// Shared memory of at most 99 KiB, which every such GPU has. Then two blocks fit into an H100's multiprocessor, so that
// the next kernel can read its weights beside the one in front.
struct Tile {
  int64_t rows, columns, warp_rows, warp_columns, split, slice, stages;
  int64_t cluster;        // blocks that share the depth
  int64_t blocks = 1;     // for which a multiprocessor has registers, where the text asks for them
  bool in_place = false;  // each thread finishes its own sums, and results are bytes (quantized/own_sums.cuh)

  int64_t warps() const {
    return (rows / warp_rows) * (columns / warp_columns) * split;
  }
  int64_t depth() const {  // of a stage
    return split * slice;
  }
  int64_t stagesOf(int64_t all_depth) const;  // of a block
  int64_t sharedBytes() const;
};

// True if the GPU has what the tiles need: asynchronous copies and such tensor cores.
bool hasTiles(const CudaDevice& device);
// Microseconds in a chain of such kernels.
double expectedTime(const Tile& tile, const TiledProduct& product);
// The tile of the least time on this device.
const Tile& tileFor(const CudaDevice& device, const TiledProduct& product);
// The same for products of bytes, which no library computes: also large ones. `to_bytes`: results are bytes, too.
const Tile& tileForBytes(const CudaDevice& device, const TiledProduct& product, bool to_bytes);

// Adds the text by which a tile's stages come to shared memory. STORED comes before.
void addStagingText(Source& source, const Tile& tile, const std::optional<Windows>& windows);
// Adds the text of the tile and of what it needs, except for storage, functions and multiplyAdd(), which come before.
void addTileText(Source& source, const Tile& tile, const std::optional<Windows>& windows);
// Adds how rows of a lie: by the windows, or by the step between them.
void addRows(Arguments& arguments, const std::optional<Windows>& windows, int64_t step);
Geometry geometryOf(const Tile& tile, const TiledProduct& product);

}  // namespace torchtrt::cuda
