#include "cpu/convolution/gemm/tile_product.h"

#include <atomic>
#include <utility>

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileBlock;
using gemm::kTileStep;

constexpr size_t kSums = static_cast<size_t>(kTileBlock * kTileBlock);

}  // namespace

std::optional<Refusal> refuseTileLayout(const Problem& problem, const Geometry& geometry, size_t residual) {
  if (geometry.groups != 1) {
    return Refusal{"groups", "takes no groups"};
  }
  if (!isChannelsLast(problem.inputs[0]) || !isChannelsLast(problem.outputs[0]) ||
      (geometry.has_residual && !isChannelsLast(problem.inputs[residual]))) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  return std::nullopt;
}

TileTargets targetsOf(const Geometry& geometry, const ShapeSet& shapes, size_t residual) {
  const Image output = imageOf(shapes.outputs[0]);
  return {output, geometry.has_residual ? imageOf(shapes.inputs[residual]) : output};
}

TileProduct::TileProduct(std::shared_ptr<const PackedTiles> packed, const TensorDesc& input, const TensorDesc& windows,
                         const TileTargets& targets, int threads)
    : packed_(std::move(packed)), output_(targets.output), residual_(targets.residual) {
  constexpr int64_t kFlopsOfThread = 4'000'000;
  constexpr int64_t kUnitsOfThread = 4;  // so that one that was interrupted holds up the others little
  // Panels that stay in the second-level cache are read for as many rows as leave them there. Others are read once for
  // as many as fit there themselves.
  constexpr size_t kSmallPanels = 512 * 1024;
  constexpr int64_t kFewBytes = 512 * 1024, kManyBytes = 1024 * 1024;
  const Geometry& g = packed_->geometry;
  const gemm::TilePanels& panels = packed_->panels;
  const bool is_small = panels.bytes() <= kSmallPanels;
  const int64_t pixels = output_.batch * output_.pixels();
  const int64_t flops = 2 * pixels * g.channels * g.taps() * g.outputs;
  threads_ = static_cast<int>(std::clamp<int64_t>(flops / kFlopsOfThread, 1, std::min<int64_t>(threads, Slot::kMost)));
  are_flat_ = isFlat(output_, g.outputs) && isFlat(residual_, g.outputs);
  const int64_t wanted = threads_ == 1 ? 1 : kUnitsOfThread * threads_;
  TileCut cut{};
  cut.depth = packed_->depth;
  cut.row_bytes = panels.steps() * kTileStep;
  cut.block_bytes = is_small ? kFewBytes : kManyBytes;
  cut.least_blocks = is_small ? std::clamp<int64_t>(pixels / (2 * kTileBlock), 1, wanted) : 1;
  const bool is_pointwise = g.isPointwise() && g.stride == Spatial{1, 1, 1};
  const bool has_lines = cut.depth == TileDepth::kLines;
  rows_ = has_lines || (!is_pointwise && havePlanes(g, sizeOf(input.dtype)))
              ? makePlaneRows(g, input, windows, packed_->padding, cut)
              : makeWindowRows(g, input, windows, packed_->padding, cut);
  if (has_lines && input.dtype == DType::kBFloat16) {
    const Image image = imageOf(input);
    apart_ = makeWindowRows(g, input, windows, packed_->padding, cut);
    values_ = image.batch * image.pixels() * image.channels;
    are_dense_ = isFlat(image, image.channels);
    copies_ = copies();
  }
  panel_blocks_ = std::clamp<int64_t>(ceilDiv(wanted, std::max<int64_t>(1, rows_->blocks())), 1, panels.count());
  most_rows_ = std::max(rows_->mostRows(), apart_ == nullptr ? 0 : apart_->mostRows());
  const size_t bytes = std::max(rows_->bufferBytes(), apart_ == nullptr ? 0 : apart_->bufferBytes());
  slot_bytes_ = 2 * alignUp(static_cast<size_t>(most_rows_) * sizeof(int64_t)) + alignUp(kSums * sizeof(int32_t)) +
                alignUp(bytes);
}

const TileRows& TileProduct::rowsFor(const RunArgs& args) const {
  if (apart_ == nullptr) {
    return *rows_;
  }
  constexpr int64_t kGrain = 65536;
  std::atomic<bool> are_finite = are_dense_;
  parallelFor(args.threads, 0, are_dense_ ? values_ : 0, kGrain, [&](int64_t begin, int64_t end) {
    if (!copies_.are_finite(static_cast<const uint16_t*>(args.inputs[0]) + begin, end - begin)) {
      are_finite = false;
    }
  });
  return are_finite ? *rows_ : *apart_;
}

TileProduct::Unit TileProduct::unitOf(const TileRows& rows, int64_t index) const {
  const int64_t blocks = rows.blocks();
  const int64_t panel_block = index / blocks;  // neighbours share panels
  const int64_t panels = packed_->panels.count();
  Unit unit{};
  unit.block = index % blocks;
  unit.rows = rows.rows(unit.block);
  unit.first_panel = panels * panel_block / panel_blocks_;
  unit.end_panel = panels * (panel_block + 1) / panel_blocks_;
  return unit;
}

TileProduct::Buffers TileProduct::buffersIn(std::byte* memory) const {
  const auto rows = static_cast<size_t>(most_rows_);
  Buffers buffers{};
  buffers.out_offsets = takePiece<int64_t>(memory, rows);
  buffers.residual_offsets = takePiece<int64_t>(memory, rows);
  buffers.sums = takePiece<int32_t>(memory, kSums);
  buffers.a = memory;
  return buffers;
}

void TileProduct::prepare(const TileRows& rows, const void* input, const Unit& unit, const Buffers& buffers) const {
  rows.prepare(input, unit.block, buffers.a);
  rows.find(unit.block, buffers.out_offsets);
  if (are_flat_) {
    for (int64_t r = 0; r < unit.rows; ++r) {
      buffers.out_offsets[r] *= packed_->geometry.outputs;  // none stays negative
      buffers.residual_offsets[r] = buffers.out_offsets[r];
    }
    return;
  }
  Pixel pixel = output_.pixelAt(buffers.out_offsets[0]);
  for (int64_t r = 0; r < unit.rows; ++r) {
    if (buffers.out_offsets[r] >= 0) {
      buffers.out_offsets[r] = output_.offsetOf(pixel);
      buffers.residual_offsets[r] = residual_.offsetOf(pixel);
      output_.advance(pixel);
    }
  }
}

gemm::TileBlock TileProduct::blockOf(const TileRows& rows, const void* input, const Unit& unit, const Buffers& buffers,
                                     int64_t first, int64_t panel) const {
  const gemm::TilePanels& panels = packed_->panels;
  const TileRows::Lying lying = rows.at(input, unit.block, buffers.a, first);
  const std::vector<int64_t>& taps = rows.tapOffsets();
  gemm::TileBlock block{};
  block.a = lying.a;
  block.a_stride = lying.stride;
  block.row_tiles = unit.rows - first > gemm::kTileSide ? 2 : 1;
  block.b = panels.panel(panel);
  block.column_tiles = panels.columns() - panel * kTileBlock > gemm::kTileSide ? 2 : 1;
  block.taps = static_cast<int64_t>(taps.size());
  block.tap_offsets = taps.data();
  block.steps = panels.steps() / block.taps;
  block.begin = packed_->begins == nullptr ? nullptr : packed_->begins.get() + panel * kTileBlock;
  block.sums = buffers.sums;
  if (panel + 1 < panels.count()) {  // each block of the unit fetches a part of the next panel
    const int64_t bytes_of_step = panels.panelBytes() / panels.steps();
    const int64_t lines = ceilDiv(bytes_of_step / kTileStep, ceilDiv(unit.rows, kTileBlock));
    const int64_t fetched = first / kTileBlock * lines * panels.steps() * kTileStep;
    block.ahead = panels.panel(panel + 1) + fetched;
    block.ahead_lines = fetched < panels.panelBytes() ? lines : 0;
  }
  return block;
}

}  // namespace torchtrt::kernels::convolution
