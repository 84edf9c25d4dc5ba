// The matrix product behind our own convolutions and small matrix products, of float32 or of float64: rows of A are
// found through pointers (so a convolution needs no im2col), B is packed once into panels. Not a BLAS: it has no
// blocking over the depth of the product, other than the sums of their own that the taps of a slab may have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu/simd/activation_rows.h"

namespace torchtrt::kernels::gemm {

// Arithmetic below which a loop is not worth another thread: about a microsecond.
inline constexpr int64_t kMinChunkFlops = 200'000;

// Most rows that one tile computes.
inline constexpr int kTileRows = 8;

// The epilogue of a sum, between the residual's addition and the store.
template <typename T>
struct EpilogueOf {
  enum class Kind : uint8_t { kNone, kClamp, kHardSwish, kRows };  // what is frequent and short is done in registers
  Kind kind = Kind::kNone;
  T low = 0;  // kClamp, which keeps NaN
  T high = 0;
  ActivationRowsOf<T> rows;  // kRows
};
using Epilogue = EpilogueOf<float>;

// Turns the fused attributes of a layer into an epilogue.
template <typename T = float>
EpilogueOf<T> makeEpilogue(const std::string& activation, double alpha, double beta);

struct PanelShape {
  int lanes;        // elements of a vector
  int max_vectors;  // of a panel
};
template <typename T = float>
PanelShape panelShape();  // for this machine

template <typename T>
struct PanelOf {
  const T* data;  // [depth][vectors * lanes]
  int32_t vectors;
  int32_t column;  // first column
  int32_t valid;   // columns that exist; the others are zero padding
};

// The panels of a B of shape [depth, columns] that lies at `data`, lanes * vectors * depth elements each, one behind
// the other.
template <typename T>
std::vector<PanelOf<T>> panelsFor(const T* data, int64_t depth, int64_t columns);

// Fills panel.data, which is `to`. Row k of B is row(k)[n * column_stride].
template <typename T, typename Row>
void packPanel(const PanelOf<T>& panel, int64_t lanes, int64_t depth, int64_t column_stride, const Row& row, T* to) {
  for (int64_t k = 0; k < depth; ++k) {
    const T* from = row(k) + panel.column * column_stride;
    if (column_stride == 1) {
      std::copy_n(from, panel.valid, to);
    } else {
      for (int64_t n = 0; n < panel.valid; ++n) {
        to[n] = from[n * column_stride];
      }
    }
    std::fill(to + panel.valid, to + panel.vectors * lanes, T(0));
    to += panel.vectors * lanes;
  }
}

// B of shape [depth, columns], as panels of up to three vectors of columns.
template <typename T>
class PackedBOf {
 public:
  PackedBOf() = default;
  // Row k of B is row(k)[n * column_stride] for n < columns.
  PackedBOf(int64_t depth, int64_t columns, int64_t column_stride, const std::function<const T*(int64_t)>& row,
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

  using Panel = PanelOf<T>;
  const std::vector<Panel>& panels() const {
    return panels_;
  }

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  size_t bytes_ = 0;
  std::shared_ptr<T> data_;
  std::vector<Panel> panels_;
};
using PackedB = PackedBOf<float>;

// One tile: up to kTileRows rows of C, for some panels. A's row r is `taps` runs of `run` elements: run t starts at
// rows[t * kTileRows + r]; taps * run is B's depth.
template <typename T>
struct TileOf {
  std::span<const PanelOf<T>> panels;
  int32_t row_count;
  const T* const* rows;
  int64_t taps;
  int64_t run;
  T* const* out;             // row_count pointers to column 0
  const T* const* residual;  // null or row_count pointers to column 0
  const T* bias;             // null or one per column
  const EpilogueOf<T>* epilogue;
};
using Tile = TileOf<float>;

// Any number of rows whose results lie at even distances: run t of row r starts at a + r * a_stride + tap_offsets[t],
// or at a + a_offsets[r] + tap_offsets[t].
template <typename T>
struct SlabOf {
  static constexpr int64_t kOneTap = 0;

  std::span<const PanelOf<T>> panels;
  int64_t rows;
  const T* a;
  int64_t a_stride;
  const int64_t* a_offsets = nullptr;
  int64_t taps = 1;
  const int64_t* tap_offsets = &kOneTap;
  int64_t run;         // taps * run is B's depth
  T* out;              // at column 0, as is residual
  int64_t out_stride;  // of residual too
  const T* residual;   // or null
  const T* bias;       // null or one per column
  const EpilogueOf<T>* epilogue;
  const T* ahead = nullptr;  // null, or as many panels as these that will be needed next: fetched meanwhile
  int64_t ahead_bytes = 0;   // of each panel; 0: all of it
};
using Slab = SlabOf<float>;

// The order in which a row's products are added. kFast: the one that is fastest for the rows of a tile, which the last
// tile has fewer of. kSame: one order for all, so that a row's bits do not depend on the number of rows.
enum class RowOrder : uint8_t { kFast, kSame };
inline RowOrder rowOrder(bool batch_invariant) {
  return batch_invariant ? RowOrder::kSame : RowOrder::kFast;
}

// The variants for this machine; ask once and keep them.
template <typename T>
struct FunctionsOf {
  void (*tile)(const TileOf<T>& tile) = nullptr;
  void (*slab)(const SlabOf<T>& slab) = nullptr;
  // The same with a sum for each tap before these are added: exacter the shorter the runs are, and a little slower.
  void (*slab_of_short_sums)(const SlabOf<T>& slab) = nullptr;
};
using Functions = FunctionsOf<float>;
template <typename T = float>
FunctionsOf<T> functions(RowOrder order = RowOrder::kFast);

// Divides `rows` rows of C into units of work: tiles of kTileRows rows times blocks of panels that stay in the
// second-level cache. Bands of tiles come one after the other, each with all blocks in turn. Results do not depend on
// the division.
struct Blocking {
  int64_t tiles = 0;
  int64_t blocks = 1;
  int64_t block_panels = 1;
  int64_t grain = 1;  // units worth a thread of their own
  int64_t bands = 1;

  int64_t units() const {
    return tiles * blocks;
  }
  // Gives each thread rows of its own where they are what is large: then it writes whole rows, which the layer behind
  // reads on the same core, most likely, and reads A once in all; otherwise threads share the panels.
  void shareRows(int64_t a_bytes, int64_t b_bytes, int threads) {
    constexpr int64_t kLeastTiles = 16;  // of a band: what a block's way into the cache is worth
    if (blocks > 1 && a_bytes > b_bytes && tiles >= kLeastTiles * threads) {
      bands = threads;
    }
  }

  struct Run {
    int64_t block, tile, tiles;
  };
  // The units from `begin` on, up to `end`, that share a block and lie one below the other.
  Run runAt(int64_t begin, int64_t end) const {
    const int64_t most = (tiles + bands - 1) / bands;
    const int64_t first = begin / (most * blocks) * most;
    const int64_t height = std::min(most, tiles - first);
    const int64_t within = begin - first * blocks;
    const int64_t tile = within % height;
    return {within / height, first + tile, std::min(end - begin, height - tile)};
  }
};
// panel_bytes: of one of the panels; flops_of_row: of all of them
Blocking chooseBlocking(int64_t panels, int64_t panel_bytes, int64_t flops_of_row, int64_t rows, int threads);

template <typename T>
Blocking chooseBlocking(const PackedBOf<T>& b, int64_t rows, int threads) {
  const auto panels = static_cast<int64_t>(b.panels().size());
  return chooseBlocking(panels, std::max<int64_t>(1, static_cast<int64_t>(b.bytes()) / panels),
                        2 * b.depth() * b.columns(), rows, threads);
}

template <typename T>
std::span<const PanelOf<T>> panelsOf(std::span<const PanelOf<T>> all, const Blocking& blocking, int64_t block) {
  const auto first = static_cast<size_t>(block * blocking.block_panels);
  return all.subspan(first, std::min(static_cast<size_t>(blocking.block_panels), all.size() - first));
}
template <typename T>
std::span<const PanelOf<T>> panelsOf(const PackedBOf<T>& b, const Blocking& blocking, int64_t block) {
  return panelsOf(std::span<const PanelOf<T>>(b.panels()), blocking, block);
}

// Runs units [begin, end) of a product whose rows all lie at even distances, with the panels of all of B. slab: panels
// and rows are set here.
template <typename T>
void runUnits(std::span<const PanelOf<T>> panels, const Blocking& blocking, const FunctionsOf<T>& functions,
              SlabOf<T> slab, int64_t begin, int64_t end);
template <typename T>
void runUnits(const PackedBOf<T>& b, const Blocking& blocking, const FunctionsOf<T>& functions, const SlabOf<T>& slab,
              int64_t begin, int64_t end) {
  runUnits(std::span<const PanelOf<T>>(b.panels()), blocking, functions, slab, begin, end);
}

}  // namespace torchtrt::kernels::gemm
