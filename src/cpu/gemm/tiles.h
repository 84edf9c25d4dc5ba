// Multiplies blocks of 32 x 32 results by the tile registers of AMX: it sums bfloat16 in float32, and bytes exactly in
// int32. B is packed once, and rows of A are read where they lie. It knows no layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/align.h"
#include "device/constants.h"
#include "torchtrt/error.h"
#include "torchtrt/types.h"

namespace torchtrt::kernels::gemm {

inline constexpr int64_t kTileSide = 16;              // rows of a register, and results along a line of one
inline constexpr int64_t kTileBlock = 2 * kTileSide;  // rows and columns of a block
inline constexpr int64_t kTileStep = 64;              // bytes of a row of A that are multiplied at once

// Refuses if the CPU, below the cap of TORCHTRT_MAX_ISA, or the system has no tiles.
std::optional<Refusal> refuseTiles();

// B of shape [depth, columns], of bfloat16 or int8, in panels of 32 columns; zeros where there is nothing.
class TilePanels {
 public:
  // at(k, n) returns the element of row k and column n, a uint16_t or int8_t.
  template <typename T, typename At>
  static TilePanels pack(int64_t depth, int64_t columns, const At& at);

  int64_t columns() const {
    return columns_;
  }
  int64_t count() const {
    return ceilDiv(columns_, kTileBlock);
  }
  int64_t steps() const {
    return steps_;
  }
  int64_t panelBytes() const {
    return steps_ * kTileStep * kTileBlock;
  }
  size_t bytes() const {
    return static_cast<size_t>(panelBytes() * count());
  }
  const std::byte* panel(int64_t index) const {
    return data_.get() + index * panelBytes();
  }

 private:
  int64_t columns_ = 0;
  int64_t steps_ = 0;
  std::shared_ptr<std::byte> data_;  // [panel][step][half of the columns][row of the register][column][four bytes]
};

struct TileBlock {
  const std::byte* a;  // tap t of row r at a + r * a_stride + tap_offsets[t], steps * 64 bytes long
  int64_t a_stride;    // in bytes
  int64_t taps;
  const int64_t* tap_offsets;
  int64_t steps;           // of a tap
  int64_t row_tiles;       // 1 or 2, of 16 rows that can be read
  const std::byte* b;      // a panel
  int64_t column_tiles;    // 1 or 2
  const void* begin;       // null, or 32 sums that every row begins with
  void* sums;              // [32][32] float or int32_t
  const std::byte* ahead;  // memory that is needed next and is fetched meanwhile
  int64_t ahead_lines;     // of 64 bytes in each step
};
using TileMultiply = void (*)(const TileBlock& block);

// Returns the function for an A of bfloat16, uint8 or int8. Call it within a TileScope.
TileMultiply tileMultiply(DType a);

// While one lives, the calling thread's tile registers have the form that blocks need.
class TileScope {
 public:
  TileScope();
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

template <typename T, typename At>
TilePanels TilePanels::pack(int64_t depth, int64_t columns, const At& at) {
  constexpr auto kTogether = static_cast<int64_t>(4 / sizeof(T));
  constexpr int64_t kDepth = kTileSide * kTogether;
  TilePanels panels;
  panels.columns_ = columns;
  panels.steps_ = ceilDiv(depth, kDepth);
  panels.data_ = std::static_pointer_cast<std::byte>(device::allocateConstant(panels.bytes(), "packing weights"));
  auto* to = reinterpret_cast<T*>(panels.data_.get());
  for (int64_t panel = 0; panel < panels.count(); ++panel) {
    for (int64_t step = 0; step < panels.steps_; ++step) {
      for (int64_t i = 0; i < kTileBlock * kDepth; ++i) {
        const int64_t place = i / kTogether;
        const int64_t n = panel * kTileBlock + place / (kTileSide * kTileSide) * kTileSide + place % kTileSide;
        const int64_t k = step * kDepth + place / kTileSide % kTileSide * kTogether + i % kTogether;
        *to++ = k < depth && n < columns ? at(k, n) : T{0};
      }
    }
  }
  return panels;
}

}  // namespace torchtrt::kernels::gemm
