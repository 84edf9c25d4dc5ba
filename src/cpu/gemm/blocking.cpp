#include <algorithm>

#include "cpu/gemm/packed_gemm.h"
#include "device/device.h"

namespace torchtrt::kernels::gemm {
namespace {

// A quarter of the second-level cache: the block in use, the one that is fetched meanwhile and the rows share it.
int64_t blockBytes() {
  constexpr int64_t kLeast = 128 * 1024;
  constexpr int64_t kMost = 512 * 1024;
  return std::clamp(static_cast<int64_t>(device::cpu().properties().l2_bytes) / 4, kLeast, kMost);  // 0: not known
}

}  // namespace

Blocking chooseBlocking(int64_t panels, int64_t panel_bytes, int64_t flops_of_row, int64_t rows, int threads) {
  Blocking blocking;
  blocking.tiles = (rows + kTileRows - 1) / kTileRows;
  const int64_t most = std::clamp<int64_t>(blockBytes() / panel_bytes, 1, panels);
  blocking.blocks = (panels + most - 1) / most;
  if (blocking.tiles < threads) {  // few rows and many columns: the columns are what can be shared out
    blocking.blocks = std::max(blocking.blocks, std::min<int64_t>(threads, panels));
  }
  blocking.block_panels = (panels + blocking.blocks - 1) / blocking.blocks;  // even shares
  blocking.blocks = (panels + blocking.block_panels - 1) / blocking.block_panels;
  const int64_t unit_flops = std::min<int64_t>(rows, kTileRows) * flops_of_row / blocking.blocks;
  blocking.grain = std::max<int64_t>(1, kMinChunkFlops / std::max<int64_t>(1, unit_flops));
  return blocking;
}

template <typename T>
void runUnits(std::span<const PanelOf<T>> panels, const Blocking& blocking, const FunctionsOf<T>& functions,
              SlabOf<T> slab, int64_t begin, int64_t end) {
  const SlabOf<T> whole = slab;
  while (begin < end) {
    const auto [block, tile, tiles] = blocking.runAt(begin, end);
    const int64_t first = tile * kTileRows;
    slab.panels = panelsOf(panels, blocking, block);
    slab.ahead = block + 1 < blocking.blocks ? panelsOf(panels, blocking, block + 1).front().data : nullptr;
    slab.rows = std::min(tiles * kTileRows, whole.rows - first);
    if (whole.a_offsets == nullptr) {
      slab.a = whole.a + first * whole.a_stride;
    } else {
      slab.a_offsets = whole.a_offsets + first;
    }
    slab.out = whole.out + first * whole.out_stride;
    slab.residual = whole.residual == nullptr ? nullptr : whole.residual + first * whole.out_stride;
    functions.slab(slab);
    begin += tiles;
  }
}

template void runUnits(std::span<const PanelOf<float>>, const Blocking&, const FunctionsOf<float>&, SlabOf<float>,
                       int64_t, int64_t);
template void runUnits(std::span<const PanelOf<double>>, const Blocking&, const FunctionsOf<double>&, SlabOf<double>,
                       int64_t, int64_t);

}  // namespace torchtrt::kernels::gemm
