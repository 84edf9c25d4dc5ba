// The float32 matrix product behind our own convolutions and small matrix products: rows of A are found through
// pointers (so a convolution needs no im2col), B is packed once into panels. Not a BLAS: it has no blocking over the
// depth of the product, other than the sums of their own that the taps of a slab may have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/activation_rows.h"

namespace torchtrt::kernels::gemm {

// Arithmetic below which a loop is not worth another thread: about a microsecond.
inline constexpr int64_t kMinChunkFlops = 200'000;

// Most rows that one tile computes.
inline constexpr int kTileRows = 8;

// What happens to a sum, after the residual was added, before it is stored.
struct Epilogue {
  enum class Kind : uint8_t { kNone, kClamp, kHardSwish, kRows };  // what is frequent and short is done in registers
  Kind kind = Kind::kNone;
  float low = 0;  // kClamp, which keeps NaN
  float high = 0;
  ActivationRows rows;  // kRows
};

// Turns the fused attributes of a layer into an epilogue.
Epilogue makeEpilogue(const std::string& activation, double alpha, double beta);

struct PanelShape {
  int lanes;        // floats of a vector
  int max_vectors;  // of a panel
};
PanelShape panelShape();  // for this machine

// B of shape [depth, columns], as panels of up to three vectors of columns.
class PackedB {
 public:
  PackedB() = default;
  // Row k of B is row(k)[n * column_stride] for n < columns.
  PackedB(int64_t depth, int64_t columns, int64_t column_stride, const std::function<const float*(int64_t)>& row,
          int threads);

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
  std::shared_ptr<float> data_;
  std::vector<Panel> panels_;
};

// One tile: up to kTileRows rows of C, for some panels. A's row r is `taps` runs of `run` floats: run t starts at
// rows[t * kTileRows + r]; taps * run is B's depth.
struct Tile {
  std::span<const PackedB::Panel> panels;
  int32_t row_count;
  const float* const* rows;
  int64_t taps;
  int64_t run;
  float* const* out;             // row_count pointers to column 0
  const float* const* residual;  // null or row_count pointers to column 0
  const float* bias;             // null or one per column
  const Epilogue* epilogue;
};

// Any number of rows whose results lie at even distances: run t of row r starts at a + r * a_stride + tap_offsets[t],
// or at a + a_offsets[r] + tap_offsets[t].
struct Slab {
  static constexpr int64_t kOneTap = 0;

  std::span<const PackedB::Panel> panels;
  int64_t rows;
  const float* a;
  int64_t a_stride;
  const int64_t* a_offsets = nullptr;
  int64_t taps = 1;
  const int64_t* tap_offsets = &kOneTap;
  int64_t run;            // taps * run is B's depth
  float* out;             // at column 0, as is residual
  int64_t out_stride;     // of residual too
  const float* residual;  // or null
  const float* bias;      // null or one per column
  const Epilogue* epilogue;
  const float* ahead = nullptr;  // null, or as many panels as these that will be needed next: fetched meanwhile
  int64_t ahead_bytes = 0;       // of each panel; 0: all of it
};

// The variants for this machine; ask once and keep them.
struct Functions {
  void (*tile)(const Tile& tile) = nullptr;
  void (*slab)(const Slab& slab) = nullptr;
  // The same with a sum for each tap before these are added: exacter the shorter the runs are, and a little slower.
  void (*slab_of_short_sums)(const Slab& slab) = nullptr;
};
Functions functions();

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

inline std::span<const PackedB::Panel> panelsOf(const PackedB& b, const Blocking& blocking, int64_t block) {
  const std::span<const PackedB::Panel> all = b.panels();
  const auto first = static_cast<size_t>(block * blocking.block_panels);
  return all.subspan(first, std::min(static_cast<size_t>(blocking.block_panels), all.size() - first));
}

// Runs units [begin, end) of a product whose rows all lie at even distances. slab: panels and rows are set here.
void runUnits(const PackedB& b, const Blocking& blocking, const Functions& functions, Slab slab, int64_t begin,
              int64_t end);

}  // namespace torchtrt::kernels::gemm
