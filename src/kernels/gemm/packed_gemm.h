// The float32 matrix product behind our own convolutions and small matrix products: rows of A are found through
// pointers (so a convolution needs no im2col), B is packed once into panels. Not a BLAS: it has no blocking over the
// depth of the product.
#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/common/activation_rows.h"

namespace torchtrt::kernels::gemm {

// Arithmetic below which a loop is not worth another thread: about a microsecond.
inline constexpr int64_t kMinChunkFlops = 200'000;

// Most rows that one tile computes.
inline constexpr int kTileRows = 8;

// What happens to a sum before it is stored: + residual, then clamp (which keeps NaN), then a function over whole rows.
struct Epilogue {
  bool clamp = false;
  float low = 0;
  float high = 0;
  ActivationRows rows;  // empty: none
};

// Turns the fused attributes of a layer into an epilogue.
Epilogue makeEpilogue(const std::string& activation, double alpha, double beta);

// B of shape [depth, columns], as panels of up to three vectors of columns.
class PackedB {
 public:
  PackedB() = default;
  // value(k, n) is read once for each element.
  PackedB(int64_t depth, int64_t columns, const std::function<float(int64_t, int64_t)>& value);

  int64_t depth() const {
    return depth_;
  }
  int64_t columns() const {
    return columns_;
  }
  size_t bytes() const {
    return bytes_;
  }

  struct Panel {
    const float* data;  // [depth][vectors * lanes]
    int32_t vectors;
    int32_t column;  // first column
    int32_t valid;   // columns that exist; the others are zero padding
  };
  const std::vector<Panel>& panels() const {
    return panels_;
  }

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  size_t bytes_ = 0;
  hwy::AlignedFreeUniquePtr<float[]> data_;
  std::vector<Panel> panels_;
};

// One tile: up to kTileRows rows of C for the panels [first, first + count).
// A's row r is `taps` runs of `run` floats: run t starts at rows[t * kTileRows + r]; taps * run is B's depth.
struct Tile {
  const PackedB::Panel* panels;
  int32_t panel_count;
  int32_t row_count;
  const float* const* rows;
  int64_t taps;
  int64_t run;
  float* const* out;             // row_count pointers to column 0
  const float* const* residual;  // null or row_count pointers to column 0
  const float* bias;             // null or one per column
  const Epilogue* epilogue;
};
using TileFunction = void (*)(const Tile& tile);

// The variant for this machine; ask once and keep it.
TileFunction tileFunction();

// How `rows` rows of C are cut into units of work: tiles of kTileRows rows times blocks of panels that stay in the
// second-level cache. Unit u is tile u % tiles of block u / tiles. Results do not depend on the cut.
struct Blocking {
  int64_t tiles = 0;
  int64_t blocks = 1;
  int64_t block_panels = 1;
  int64_t grain = 1;  // units worth a thread of their own

  int64_t units() const {
    return tiles * blocks;
  }
};
Blocking chooseBlocking(const PackedB& b, int64_t rows, int threads);

// Fills the panels of a tile.
inline void setPanels(Tile& tile, const PackedB& b, const Blocking& blocking, int64_t block) {
  const int64_t first = block * blocking.block_panels;
  tile.panels = b.panels().data() + first;
  tile.panel_count =
      static_cast<int32_t>(std::min(blocking.block_panels, static_cast<int64_t>(b.panels().size()) - first));
}

}  // namespace torchtrt::kernels::gemm
