#include "kernels/gemm/packed_gemm.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed_gemm.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/common/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using kernels::HWY_NAMESPACE::atLeast;
using kernels::HWY_NAMESPACE::atMost;

// Accumulators, one row of B and one broadcast value have to fit the vector registers: 32 with AVX-512, 16 before.
constexpr int kMaxVectors = 3;
constexpr int kMaxRows = HWY_TARGET == HWY_AVX3 ? 8 : 4;

HWY_INLINE V finish(D d, V sum, const Epilogue& epilogue) {
  return epilogue.clamp ? atMost(atLeast(sum, hn::Set(d, epilogue.low)), hn::Set(d, epilogue.high)) : sum;
}

// kRows rows times kPanels panels of kVectors vectors each, over the whole depth.
template <int kRows, int kVectors, int kPanels>
HWY_INLINE void micro(const Tile& tile, int row, const PackedB::Panel* panels) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kWide = kVectors * kPanels;
  // Rows beyond the last repeat it: they compute and store the same once more.
  int at[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    at[r] = std::min(row + r, tile.row_count - 1);
  }
  V sum[kRows][kWide];
  const float* b[kPanels];
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
    b[p] = panels[p].data;
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        sum[r][p * kVectors + j] = hn::Zero(d);
      }
    }
  }
  for (int64_t t = 0; t < tile.taps; ++t) {
    const float* a[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      a[r] = tile.rows[t * kTileRows + at[r]];
    }
    for (int64_t k = 0; k < tile.run; ++k) {
      V line[kWide];
#pragma GCC unroll 16
      for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 16
        for (int j = 0; j < kVectors; ++j) {
          line[p * kVectors + j] = hn::Load(d, b[p] + j * lanes);
        }
        b[p] += kVectors * lanes;
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const V value = hn::Set(d, a[r][k]);
#pragma GCC unroll 16
        for (int j = 0; j < kWide; ++j) {
          sum[r][j] = hn::MulAdd(value, line[j], sum[r][j]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      const int64_t column = panels[p].column + j * lanes;
      const int64_t valid = panels[p].valid - j * lanes;
      const V zero = hn::Zero(d);
      if (HWY_LIKELY(valid >= lanes)) {
        const V bias = tile.bias != nullptr ? hn::LoadU(d, tile.bias + column) : zero;
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          V value = hn::Add(sum[r][p * kVectors + j], bias);
          if (tile.residual != nullptr) {
            value = hn::Add(value, hn::LoadU(d, tile.residual[at[r]] + column));
          }
          hn::StoreU(finish(d, value, *tile.epilogue), d, tile.out[at[r]] + column);
        }
      } else {
        const auto mask = hn::FirstN(d, static_cast<size_t>(valid));
        const V bias = tile.bias != nullptr ? hn::MaskedLoad(mask, d, tile.bias + column) : zero;
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          V value = hn::Add(sum[r][p * kVectors + j], bias);
          if (tile.residual != nullptr) {
            value = hn::Add(value, hn::MaskedLoad(mask, d, tile.residual[at[r]] + column));
          }
          hn::BlendedStore(finish(d, value, *tile.epilogue), mask, d, tile.out[at[r]] + column);
        }
      }
    }
  }
}

template <int kVectors>
HWY_INLINE void panelRows(const Tile& tile, const PackedB::Panel* panel) {
  if (tile.row_count <= 2) {
    micro<2, kVectors, 1>(tile, 0, panel);
  } else if (tile.row_count <= 4) {
    micro<4, kVectors, 1>(tile, 0, panel);
  } else if constexpr (kMaxRows == kTileRows) {
    micro<kTileRows, kVectors, 1>(tile, 0, panel);
  } else {
    micro<4, kVectors, 1>(tile, 0, panel);
    micro<4, kVectors, 1>(tile, 4, panel);
  }
}

// A single row has too few sums to hide the latency of multiply-add, so it takes several panels at once.
HWY_NOINLINE void singleRow(const Tile& tile) {
  constexpr int kTogether = 4;
  int p = 0;
  while (p < tile.panel_count) {
    const PackedB::Panel* panel = tile.panels + p;
    const int vectors = panel->vectors;
    const bool together = p + kTogether <= tile.panel_count && panel[kTogether - 1].vectors == vectors;
    if (together && vectors == 2) {
      micro<1, 2, kTogether>(tile, 0, panel);
    } else if (together && vectors == kMaxVectors) {
      micro<1, kMaxVectors, kTogether>(tile, 0, panel);
    } else if (vectors == 1) {
      micro<1, 1, 1>(tile, 0, panel);
    } else if (vectors == 2) {
      micro<1, 2, 1>(tile, 0, panel);
    } else {
      micro<1, kMaxVectors, 1>(tile, 0, panel);
    }
    p += together && vectors > 1 ? kTogether : 1;
  }
}

void runTile(const Tile& tile) {
  if (tile.row_count == 1) {
    singleRow(tile);
  } else {
    for (int p = 0; p < tile.panel_count; ++p) {
      const PackedB::Panel* panel = tile.panels + p;
      if (panel->vectors == 1) {
        panelRows<1>(tile, panel);
      } else if (panel->vectors == 2) {
        panelRows<2>(tile, panel);
      } else {
        panelRows<kMaxVectors>(tile, panel);
      }
    }
  }
  if (tile.epilogue->rows) {
    const PackedB::Panel& last = tile.panels[tile.panel_count - 1];
    const int64_t first = tile.panels[0].column;
    for (int r = 0; r < tile.row_count; ++r) {
      tile.epilogue->rows(tile.out[r] + first, tile.out[r] + first, last.column + last.valid - first);
    }
  }
}

TileFunction tileFunctionForTarget() {
  return runTile;
}

// Lanes of a vector and most vectors of a panel.
void shapeForTarget(int& lanes, int& max_vectors) {
  lanes = static_cast<int>(hn::Lanes(D()));
  max_vectors = kMaxVectors;
}

}  // namespace
}  // namespace torchtrt::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <limits>
#include <string>

namespace torchtrt::kernels::gemm {

HWY_EXPORT(tileFunctionForTarget);
HWY_EXPORT(shapeForTarget);

TileFunction tileFunction() {
  return HWY_DYNAMIC_DISPATCH(tileFunctionForTarget)();
}

PackedB::PackedB(int64_t depth, int64_t columns, const std::function<float(int64_t, int64_t)>& value)
    : depth_(depth), columns_(columns) {
  int lanes = 0;
  int max_vectors = 0;
  HWY_DYNAMIC_DISPATCH(shapeForTarget)(lanes, max_vectors);
  const int64_t vectors = (columns + lanes - 1) / lanes;
  const size_t count = static_cast<size_t>(vectors * lanes * depth);
  data_ = hwy::AllocateAligned<float>(count);
  bytes_ = count * sizeof(float);
  float* to = data_.get();
  for (int64_t vector = 0; vector < vectors;) {
    // Even shares: 4 vectors become 2 + 2, not 3 + 1.
    const int64_t panels_left = (vectors - vector + max_vectors - 1) / max_vectors;
    const int64_t width = (vectors - vector + panels_left - 1) / panels_left;
    const int64_t column = vector * lanes;
    const int64_t valid = std::min(width * lanes, columns - column);
    panels_.push_back({to, static_cast<int32_t>(width), static_cast<int32_t>(column), static_cast<int32_t>(valid)});
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t n = 0; n < width * lanes; ++n) {
        *to++ = n < valid ? value(k, column + n) : 0.0F;
      }
    }
    vector += width;
  }
}

Blocking chooseBlocking(const PackedB& b, int64_t rows, int threads) {
  constexpr int64_t kBlockBytes = 256 * 1024;
  const auto panels = static_cast<int64_t>(b.panels().size());
  const int64_t panel_bytes = std::max<int64_t>(1, static_cast<int64_t>(b.bytes()) / panels);
  Blocking blocking;
  blocking.tiles = (rows + kTileRows - 1) / kTileRows;
  const int64_t most = std::clamp<int64_t>(kBlockBytes / panel_bytes, 1, panels);
  blocking.blocks = (panels + most - 1) / most;
  if (blocking.tiles < threads) {  // few rows and many columns: the columns are what can be shared out
    blocking.blocks = std::max(blocking.blocks, std::min<int64_t>(threads, panels));
  }
  blocking.block_panels = (panels + blocking.blocks - 1) / blocking.blocks;  // even shares
  blocking.blocks = (panels + blocking.block_panels - 1) / blocking.block_panels;
  const int64_t unit_flops = 2 * std::min<int64_t>(rows, kTileRows) * b.depth() * b.columns() / blocking.blocks;
  blocking.grain = std::max<int64_t>(1, kMinChunkFlops / std::max<int64_t>(1, unit_flops));
  return blocking;
}

Epilogue makeEpilogue(const std::string& activation, double alpha, double beta) {
  Epilogue epilogue;
  if (activation == "relu") {
    epilogue.clamp = true;
    epilogue.high = std::numeric_limits<float>::infinity();
  } else if (activation == "clip") {
    epilogue.clamp = true;
    epilogue.low = static_cast<float>(alpha);
    epilogue.high = static_cast<float>(beta);
  } else {
    epilogue.rows = activationRows(activation, alpha, beta);
  }
  return epilogue;
}

}  // namespace torchtrt::kernels::gemm
#endif  // HWY_ONCE
