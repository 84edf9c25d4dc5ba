// Products of bytes or of 16 bits on tensor cores by whole warpgroups (matmul/warpgroup_product.cuh): those with many
// results. Only GPUs of compute capability 9.0 have the instructions.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/launch/steps.h"
#include "cuda/matmul/tile.h"

namespace torchtrt::cuda {

// out = finish(a b + residual), where all elements have as many bytes and b is constant. Lines of all operands lie
// dense along the depth or the columns.
struct WarpgroupProduct {
  DType dtype =
      DType::kInt8;  // of a: int8, uint8, float16 or bfloat16; b is of int8 in the first two cases, else the same
  int64_t rows = 0, columns = 0;
  int64_t depth = 0;               // of a tap, in bytes
  int64_t taps = 1;                // of a window
  std::optional<Windows> windows;  // rows of a are windows of an image; strides in bytes
  Place a;                         // [rows, depth], or the image
  Place b;                         // [columns, taps, depth]
  Place residual, out;             // [rows, columns]

  // Of windows over an image of bytes. Neighbouring taps that lie side by side become one.
  void setWindows(const Windows& of, int64_t all_taps);
};

// A block makes tiles of 64 * groups x columns.
struct WarpgroupTile {
  int64_t groups, columns;
  int64_t chunk;  // bytes along the depth of a stage: 64 or 128
  int64_t stages;
  int64_t blocks;  // of a multiprocessor

  int64_t rows() const {
    return 64 * groups;
  }
};

// The tile of the least time; nothing if the GPU or the operands do not suit.
std::optional<WarpgroupTile> warpgroupTileFor(const CudaDevice& device, const WarpgroupProduct& product);
// Microseconds in a chain of such kernels.
double expectedTime(const WarpgroupTile& tile, const WarpgroupProduct& product);

// Adds the texts behind storage. OUT is the type of results there. `value_bytes` of shared memory belong to each
// column.
void addWarpgroupText(Source& source, const WarpgroupTile& tile, const WarpgroupProduct& product, int64_t value_bytes);
// Adds the arguments up to the tensor map of out.
void addOperands(Arguments& arguments, const WarpgroupTile& tile, const WarpgroupProduct& product);
Geometry geometryOf(const CudaDevice& device, const WarpgroupTile& tile, const WarpgroupProduct& product,
                    int64_t value_bytes);

}  // namespace torchtrt::cuda
