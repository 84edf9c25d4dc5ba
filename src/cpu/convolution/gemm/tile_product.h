// The loop of a convolution by tiles, of bfloat16 and of bytes. It finishes each block of 32 x 32 sums while that is in
// the first-level cache. The bits of a row depend on no other row, and on no number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/convolution/gemm/tile_rows.h"
#include "cpu/convolution/geometry.h"
#include "cpu/gemm/tiles.h"
#include "cpu/threads/slots.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::convolution {

// Sums of some columns of some rows of the output.
struct TileSums {
  static constexpr int64_t kStride = gemm::kTileBlock;

  const int32_t* sums;  // [rows][kStride], or the bits of float
  int64_t rows;
  int64_t column;  // the first
  int64_t columns;
  const int64_t* out_offsets;       // of each row's first column, in elements
  const int64_t* residual_offsets;  // the same of the residual
};

// The part of the work that is done once, when a kernel is created.
struct PackedTiles {
  Geometry geometry;
  TileDepth depth = TileDepth::kTight;
  gemm::TilePanels panels;
  std::byte padding{0};
  std::shared_ptr<int32_t> begins;  // null, or the sums of each column before the first product; as long as panels
  gemm::TileMultiply multiply;
};

// Packs filters, which are [outputs, channels, taps...], in the order of the depth.
template <typename T>
gemm::TilePanels packTiles(const Geometry& g, TileDepth depth, const T* weights) {
  const int64_t piece = pieceBytes(g, sizeof(T), depth) / static_cast<int64_t>(sizeof(T));
  const int64_t taps = g.taps();
  const int64_t taps_of_piece = depth == TileDepth::kLines ? g.kernel[2] : taps;
  return gemm::TilePanels::pack<T>(taps / taps_of_piece * piece, g.outputs, [&](int64_t k, int64_t n) {
    const int64_t tap = k % piece / g.channels;
    return tap < taps_of_piece
               ? weights[(n * g.channels + k % piece % g.channels) * taps + k / piece * taps_of_piece + tap]
               : T{0};
  });
}

// Refuses groups, and other orders than channels-last. `residual` is the operand of that name.
std::optional<Refusal> refuseTileLayout(const Problem& problem, const Geometry& geometry, size_t residual);

// The places of results. Strides are in elements.
struct TileTargets {
  Image output;
  Image residual;  // as the output without one
};
TileTargets targetsOf(const Geometry& geometry, const ShapeSet& shapes, size_t residual);

class TileProduct {
 public:
  // `windows` has the sizes of an image with a pixel for each window.
  TileProduct(std::shared_ptr<const PackedTiles> packed, const TensorDesc& input, const TensorDesc& windows,
              const TileTargets& targets, int threads);

  size_t scratchBytes() const {
    return slot_bytes_ * static_cast<size_t>(threads_);
  }
  // Calls finish(sums) for all results.
  template <typename Finish>
  void run(const RunArgs& args, const Finish& finish) const;

 private:
  // A block of rows times some panels.
  struct Unit {
    int64_t block;
    int64_t rows;
    int64_t first_panel;
    int64_t end_panel;
  };
  struct Buffers {
    int64_t* out_offsets;  // of rows; negative where a row has no output
    int64_t* residual_offsets;
    std::byte* a;
    int32_t* sums;
  };

  const TileRows& rowsFor(const RunArgs& args) const;
  Unit unitOf(const TileRows& rows, int64_t index) const;
  Buffers buffersIn(std::byte* memory) const;
  void prepare(const TileRows& rows, const void* input, const Unit& unit, const Buffers& buffers) const;
  gemm::TileBlock blockOf(const TileRows& rows, const void* input, const Unit& unit, const Buffers& buffers,
                          int64_t first, int64_t panel) const;
  template <typename Finish>
  void finishRows(const Buffers& buffers, int64_t first, int64_t count, TileSums sums, const Finish& finish) const;

  std::shared_ptr<const PackedTiles> packed_;
  std::unique_ptr<const TileRows> rows_;
  // Runs instead if the input has an infinity or a NaN, which zero weights would bring to other windows. May be null.
  std::unique_ptr<const TileRows> apart_;
  int64_t values_ = 0;      // of the input
  bool are_dense_ = false;  // they lie side by side
  Copies copies_;
  Image output_;
  Image residual_;
  int64_t most_rows_ = 0;  // of a block
  bool are_flat_ = false;  // their pixels lie side by side
  int threads_ = 1;        // worth using
  int64_t panel_blocks_ = 1;
  size_t slot_bytes_ = 0;
};

template <typename Finish>
void TileProduct::run(const RunArgs& args, const Finish& finish) const {
  const TileRows& rows = rowsFor(args);
  runUnits(args, rows.blocks() * panel_blocks_, threads_, slot_bytes_, [&](std::byte* memory, int64_t index) {
    const gemm::TileScope scope;
    const Unit unit = unitOf(rows, index);
    const Buffers buffers = buffersIn(memory);
    prepare(rows, args.inputs[0], unit, buffers);
    for (int64_t panel = unit.first_panel; panel < unit.end_panel; ++panel) {
      TileSums sums{};
      sums.column = panel * gemm::kTileBlock;
      sums.columns = std::min(gemm::kTileBlock, packed_->panels.columns() - sums.column);
      for (int64_t row = 0; row < unit.rows; row += gemm::kTileBlock) {
        packed_->multiply(blockOf(rows, args.inputs[0], unit, buffers, row, panel));
        finishRows(buffers, row, std::min(gemm::kTileBlock, unit.rows - row), sums, finish);
      }
    }
  });
}

template <typename Finish>
void TileProduct::finishRows(const Buffers& buffers, int64_t first, int64_t count, TileSums sums,
                             const Finish& finish) const {
  const int64_t* const offsets = buffers.out_offsets + first;
  for (int64_t row = 0; row < count; row += sums.rows + 1) {
    sums.rows = 0;
    while (row + sums.rows < count && offsets[row + sums.rows] >= 0) {
      ++sums.rows;
    }
    if (sums.rows > 0) {
      sums.sums = buffers.sums + row * TileSums::kStride;
      sums.out_offsets = offsets + row;
      sums.residual_offsets = buffers.residual_offsets + first + row;
      finish(sums);
    }
  }
}

// A kernel by tiles. `Packed` holds PackedTiles as `tiles`, with what else is made of constants, and instead of
// operand 1. Run is the Prepared that is made of it.
template <typename Packed, typename Run>
class TilesKernel final : public Kernel {
 public:
  explicit TilesKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Run>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    constexpr int kWeights = 1;
    return input != kWeights;
  }
  size_t packedBytes() const override {
    return packed_->tiles.panels.bytes();
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

}  // namespace torchtrt::kernels::convolution
