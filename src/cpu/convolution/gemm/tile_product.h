// The loop of a convolution by tiles, of bfloat16 and of bytes: blocks of 32 x 32 sums, each finished while it is in
// the first-level cache. The bits of a row depend on no other row, and on no number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

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
  gemm::TilePanels panels;
  std::byte padding{0};
  std::shared_ptr<int32_t> begins;  // null, or the sums of each column before the first product; as long as panels
  gemm::TileMultiply multiply;
};

// Refuses what TileRows do not take. residual: its operand.
std::optional<Refusal> refuseTileLayout(const Problem& problem, const Geometry& geometry, size_t residual);

// Places of results: strides are in elements of the output.
struct TileTargets {
  Image output;
  Image residual;  // as the output without one
};
TileTargets targetsOf(const Geometry& geometry, const ShapeSet& shapes, size_t residual);

class TileProduct {
 public:
  // windows: sizes of the output, a window of the input for each.
  TileProduct(std::shared_ptr<const PackedTiles> packed, const TensorDesc& input, const TensorDesc& windows,
              const TileTargets& targets, int threads);

  size_t scratchBytes() const {
    return slot_bytes_ * static_cast<size_t>(threads_);
  }
  // finish(sums) of each block.
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

  Unit unitOf(int64_t index) const;
  Buffers buffersIn(std::byte* memory) const;
  void prepare(const void* input, const Unit& unit, const Buffers& buffers) const;
  gemm::TileBlock blockOf(const void* input, const Unit& unit, const Buffers& buffers, int64_t first,
                          int64_t panel) const;
  template <typename Finish>
  void finishRows(const Buffers& buffers, int64_t first, int64_t count, TileSums sums, const Finish& finish) const;

  std::shared_ptr<const PackedTiles> packed_;
  std::unique_ptr<const TileRows> rows_;
  Image output_;
  Image residual_;
  bool are_flat_ = false;  // their pixels lie side by side
  int threads_ = 1;        // worth using
  int64_t panel_blocks_ = 1;
  size_t slot_bytes_ = 0;
};

template <typename Finish>
void TileProduct::run(const RunArgs& args, const Finish& finish) const {
  runUnits(args, rows_->blocks() * panel_blocks_, threads_, slot_bytes_, [&](std::byte* memory, int64_t index) {
    const gemm::TileScope scope;
    const Unit unit = unitOf(index);
    const Buffers buffers = buffersIn(memory);
    prepare(args.inputs[0], unit, buffers);
    for (int64_t panel = unit.first_panel; panel < unit.end_panel; ++panel) {
      TileSums sums{};
      sums.column = panel * gemm::kTileBlock;
      sums.columns = std::min(gemm::kTileBlock, packed_->panels.columns() - sums.column);
      for (int64_t row = 0; row < unit.rows; row += gemm::kTileBlock) {
        packed_->multiply(blockOf(args.inputs[0], unit, buffers, row, panel));
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

}  // namespace torchtrt::kernels::convolution
