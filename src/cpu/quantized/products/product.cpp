#include "cpu/quantized/products/product.h"

#include <algorithm>
#include <utility>

namespace torchtrt::kernels::quantized {
namespace {

// A part of a panel this deep stays in the first-level cache while rows pass by.
constexpr int64_t kMostDepth = 768;
// Rows of a block: its widened values stay in the second-level cache, and panels are read once for all of them.
constexpr int64_t kMostRows = 72;
constexpr int64_t kLeastRows = 36;
// Sums that wait for the next part of the depth, at the most in a unit.
constexpr int64_t kMostSums = 32768;

}  // namespace

Cut cutProduct(const PackedIntegers& b, int64_t groups, int64_t rows, int64_t least_rows, int64_t most_rows,
               int64_t threads) {
  constexpr int64_t kUnitsOfThread = 8;  // so that one that was interrupted holds up the others little
  constexpr int64_t kFewColumns = 64;    // of a unit: preparing its rows costs 2 / columns of multiplying them
  Cut cut;
  cut.row_blocks = std::max<int64_t>(1, ceilDiv(rows, most_rows));
  if (threads > 1) {
    const int64_t wanted = ceilDiv(kUnitsOfThread * threads, groups);
    cut.row_blocks = std::max(cut.row_blocks, std::min(wanted, rows / least_rows));
    cut.panel_blocks =
        std::clamp<int64_t>(ceilDiv(wanted, cut.row_blocks), 1, std::max<int64_t>(1, b.columns() / kFewColumns));
  }
  return cut;
}

PackedProduct::PackedProduct(const Problem& problem, std::vector<PackedIntegers> weights)
    : groups(std::move(weights)), requantizer(problem), gemm(integerGemm()) {}

size_t PackedProduct::bytes() const {
  size_t bytes = 0;
  for (const PackedIntegers& group : groups) {
    bytes += group.bytes();
  }
  return bytes;
}

// Some rows times some panels of a group.
struct PreparedProduct::Unit {
  int64_t group;
  int64_t first_row;
  int64_t rows;
  size_t first_panel;
  size_t panels;
};

struct PreparedProduct::Buffers {
  int16_t* a;                 // [rows][stride_]
  int32_t* sums;              // of one panel, or of all of the unit where the depth has parts
  int64_t* out_offsets;       // of rows
  int64_t* residual_offsets;  // of rows
};

PreparedProduct::PreparedProduct(std::shared_ptr<const PackedProduct> packed, std::unique_ptr<const Rows> rows,
                                 int64_t row_count, int threads)
    : packed_(std::move(packed)), rows_(std::move(rows)), row_count_(row_count) {
  const PackedIntegers& b = packed_->groups[0];
  const int64_t depth = b.depth();
  const auto groups = static_cast<int64_t>(packed_->groups.size());
  const auto panels = static_cast<int64_t>(b.panels().size());
  threads_ = static_cast<int>(std::clamp<int64_t>(2 * row_count * groups * depth * b.columns() / gemm::kMinChunkFlops,
                                                  1, std::min<int64_t>(threads, Slot::kMost)));
  depth_blocks_ = depth <= kMostDepth ? 1 : ceilDiv(depth, kMostDepth);
  depth_block_ = ceilDiv(ceilDiv(depth, depth_blocks_), 2) * 2;
  constexpr int64_t kPad = 32;  // rows at a distance of a power of two would share lines of the cache
  stride_ = depth_blocks_ == 1 ? depth_block_ : depth_block_ + kPad;
  const Cut cut = cutProduct(b, groups, row_count, kLeastRows, kMostRows, threads_);
  row_blocks_ = cut.row_blocks;
  most_rows_ = ceilDiv(row_count, row_blocks_);
  panel_blocks_ = cut.panel_blocks;
  if (depth_blocks_ > 1) {
    const int64_t sums = most_rows_ * panels * b.panels().front().width;
    panel_blocks_ = std::clamp(ceilDiv(sums, kMostSums), panel_blocks_, panels);
  }
  most_panels_ = ceilDiv(panels, panel_blocks_);
}

size_t PreparedProduct::slotBytes() const {
  const auto rows = static_cast<size_t>(most_rows_);
  const auto panels = static_cast<size_t>(depth_blocks_ == 1 ? 1 : most_panels_);
  return alignUp(rows * static_cast<size_t>(stride_) * sizeof(int16_t)) +
         alignUp(panels * rows * kWidestPanel * sizeof(int32_t)) + 2 * alignUp(rows * sizeof(int64_t));
}

size_t PreparedProduct::scratchBytes() const {
  return slotBytes() * static_cast<size_t>(threads_);
}

PreparedProduct::Unit PreparedProduct::unitOf(int64_t index) const {
  // Neighbours share panels.
  const int64_t row_block = index % row_blocks_;
  index /= row_blocks_;
  const int64_t panel_block = index % panel_blocks_;
  Unit unit{};
  unit.group = index / panel_blocks_;
  const auto panels = static_cast<int64_t>(packed_->groups[0].panels().size());
  const int64_t first_panel = panels * panel_block / panel_blocks_;
  unit.first_panel = static_cast<size_t>(first_panel);
  unit.panels = static_cast<size_t>(panels * (panel_block + 1) / panel_blocks_ - first_panel);
  unit.first_row = row_count_ * row_block / row_blocks_;
  unit.rows = row_count_ * (row_block + 1) / row_blocks_ - unit.first_row;
  return unit;
}

void PreparedProduct::run(const RunArgs& args) const {
  if (row_count_ == 0) {
    return;
  }
  const int64_t units = row_blocks_ * panel_blocks_ * static_cast<int64_t>(packed_->groups.size());
  runUnits(args, units, threads_, slotBytes(), [&](std::byte* memory, int64_t unit) {
    const auto rows = static_cast<size_t>(most_rows_);
    Buffers buffers{};
    buffers.out_offsets = takePiece<int64_t>(memory, rows);
    buffers.residual_offsets = takePiece<int64_t>(memory, rows);
    buffers.a = takePiece<int16_t>(memory, rows * static_cast<size_t>(stride_));
    buffers.sums = reinterpret_cast<int32_t*>(memory);
    runUnit(args, unitOf(unit), buffers);
  });
}

void PreparedProduct::runUnit(const RunArgs& args, const Unit& unit, const Buffers& buffers) const {
  const PackedIntegers& b = packed_->groups[static_cast<size_t>(unit.group)];
  const int64_t group_column = unit.group * b.columns();
  rows_->find(unit.first_row, unit.rows, buffers.out_offsets, buffers.residual_offsets);
  RequantizedRows results{};
  results.rows = unit.rows;
  results.out_offsets = buffers.out_offsets;
  results.residual_offsets = buffers.residual_offsets;
  for (int64_t block = 0; block < depth_blocks_; ++block) {
    const int64_t begin = block * depth_block_;
    const int64_t end = std::min(begin + depth_block_, b.depth());
    rows_->widen(args.inputs[kInput], unit.group, unit.first_row, unit.rows, begin, end, buffers.a, stride_);
    PanelProduct product{};
    product.a = buffers.a;
    product.a_stride = stride_;
    product.rows = unit.rows;
    product.pairs = (end - begin + 1) / 2;
    product.add = block > 0;
    product.sums = buffers.sums;
    for (size_t p = 0; p < unit.panels; ++p) {
      const PackedIntegers::Panel& panel = b.panels()[unit.first_panel + p];
      product.width = panel.width;
      product.b = panel.data + begin * panel.width;
      const bool last = p + 1 == unit.panels;
      product.ahead = last ? product.b : b.panels()[unit.first_panel + p + 1].data + begin * panel.width;
      packed_->gemm.multiply(product);
      if (block + 1 == depth_blocks_) {
        results.sums = product.sums;
        results.sums_stride = panel.width;
        results.columns = panel.valid;
        packed_->requantizer.run(args, group_column + panel.column, results);
      }
      if (depth_blocks_ > 1) {
        product.sums += unit.rows * panel.width;
      }
    }
  }
}

}  // namespace torchtrt::kernels::quantized
