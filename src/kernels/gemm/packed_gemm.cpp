#include "kernels/gemm/packed_gemm.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/packed_gemm.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Accumulators, one row of B and one broadcast value have to fit the vector registers: 32 with AVX-512, 16 before.
constexpr int kMaxVectors = 3;
// Multiply-adds under way at a time: two a cycle, four cycles each.
constexpr int kChains = 8;
constexpr int kMaxRows = HWY_TARGET == HWY_AVX3 ? 8 : 4;

// Where the rows of a tile lie. `count` rows exist; those beyond repeat the last one: they compute and store the same
// once more.
struct PointedRows {
  const Tile& tile;
  int count;

  static constexpr bool kEven = false;
  static constexpr bool kTapsApart = false;
  // Element k of run `tap` is at start(tap, row)[offset(tap) + k].
  HWY_INLINE const float* start(int64_t tap, int row) const {
    return tile.rows[tap * kTileRows + std::min(row, count - 1)];
  }
  HWY_INLINE int64_t offset(int64_t) const {
    return 0;
  }
  HWY_INLINE float* out(int row) const {
    return tile.out[std::min(row, count - 1)];
  }
  HWY_INLINE const float* residual(int row) const {
    return tile.residual[std::min(row, count - 1)];
  }
};
template <bool kApart>
struct EvenRows {
  const Slab& slab;
  int count;
  const float* starts[kTileRows];  // of A's rows
  int64_t offsets[kTileRows];      // of C's rows

  HWY_INLINE EvenRows(const Slab& of, int64_t first, int rows) : slab(of), count(rows) {
    for (int r = 0; r < kTileRows; ++r) {
      const int64_t row = first + std::min(r, count - 1);
      starts[r] = slab.a + (slab.a_offsets == nullptr ? row * slab.a_stride : slab.a_offsets[row]);
      offsets[r] = row * slab.out_stride;
    }
  }
  static constexpr bool kEven = true;  // start() is the same for every tap
  static constexpr bool kTapsApart = kApart;
  HWY_INLINE const float* start(int64_t, int row) const {
    return starts[row];
  }
  HWY_INLINE int64_t offset(int64_t tap) const {
    return slab.tap_offsets[tap];
  }
  HWY_INLINE float* out(int row) const {
    return slab.out + offsets[row];
  }
  HWY_INLINE const float* residual(int row) const {
    return slab.residual + offsets[row];
  }
};

// What all rows of a tile share.
struct Terms {
  int64_t taps;
  int64_t run;
  const float* bias;
  bool has_residual;
  const Epilogue& epilogue;
  // What to bring into the second-level cache meanwhile, and bytes of it per step of the depth.
  const char* ahead = nullptr;
  int64_t ahead_step = 0;
};

template <bool kWhole>
HWY_INLINE V loadPart(const float* from, int64_t valid) {
  return kWhole ? hn::LoadU(D(), from)
                : hn::MaskedLoad(hn::FirstN(D(), static_cast<size_t>(std::max<int64_t>(valid, 0))), D(), from);
}

template <int kVectors, int kPanels, bool kWhole>
HWY_INLINE void loadBias(const float* bias, const PackedB::Panel* panels, V* line) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
#pragma GCC unroll 16
  for (int i = 0; i < kVectors * kPanels; ++i) {
    const PackedB::Panel& panel = panels[i / kVectors];
    const int64_t within = i % kVectors * lanes;
    line[i] = loadPart<kWhole>(bias + panel.column + within, panel.valid - within);
  }
}

template <int kRows, int kVectors, int kPanels, bool kWhole, typename Rows>
HWY_INLINE void finish(const Rows& rows, const Terms& terms, int row, const PackedB::Panel* panels,
                       V (&sum)[kRows][kVectors * kPanels]) {
  constexpr int kWide = kVectors * kPanels;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  // Read before anything is stored: the compiler has to take a store for a change of everything.
  int64_t columns[kWide];
  hn::Mask<D> masks[kWide];
#pragma GCC unroll 16
  for (int i = 0; i < kWide; ++i) {
    const PackedB::Panel& panel = panels[i / kVectors];
    const int64_t within = i % kVectors * lanes;
    columns[i] = panel.column + within;
    masks[i] = hn::FirstN(D(), static_cast<size_t>(std::max<int64_t>(panel.valid - within, 0)));
  }
  float* out[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    out[r] = rows.out(row + r);
  }
  if (terms.bias != nullptr) {
    V line[kWide];
    loadBias<kVectors, kPanels, kWhole>(terms.bias, panels, line);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int i = 0; i < kWide; ++i) {
        sum[r][i] = hn::Add(sum[r][i], line[i]);
      }
    }
  }
  if (terms.has_residual) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float* residual = rows.residual(row + r);
#pragma GCC unroll 16
      for (int i = 0; i < kWide; ++i) {
        const float* from = residual + columns[i];
        sum[r][i] = hn::Add(sum[r][i], kWhole ? hn::LoadU(D(), from) : hn::MaskedLoad(masks[i], D(), from));
      }
    }
  }
  applyEpilogue<kRows * kWide>(terms.epilogue, &sum[0][0]);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kWide; ++i) {
      if constexpr (kWhole) {
        hn::StoreU(sum[r][i], D(), out[r] + columns[i]);
      } else {
        hn::BlendedStore(sum[r][i], masks[i], D(), out[r] + columns[i]);
      }
    }
  }
}

template <int kRows, int kWide>
HWY_INLINE void clear(V (&sums)[kRows][kWide]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kWide; ++i) {
      sums[r][i] = hn::Zero(D());
    }
  }
}

template <int kRows, int kWide>
HWY_INLINE void add(const V (&sums)[kRows][kWide], V (&to)[kRows][kWide]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kWide; ++i) {
      to[r][i] = hn::Add(to[r][i], sums[r][i]);
    }
  }
}

// kRows rows from `row` times kPanels panels of kVectors vectors each, over the whole depth.
template <int kRows, int kVectors, int kPanels, typename Rows>
HWY_INLINE void micro(const Rows& rows, const Terms& terms, int row, const PackedB::Panel* panels) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kWide = kVectors * kPanels;
  // Only the last panel can be cut.
  const bool whole = panels[kPanels - 1].valid == kVectors * lanes;
  V line[kWide];
  // Few sums cannot hide the latency of multiply-add: then consecutive steps of the depth go to sums of their own. A
  // single row's are as many whether its panel is taken alone or with another: what lies beside it must not show.
  constexpr int kSplit = std::max(1, kChains / (kRows * (kRows == 1 ? kVectors : kWide)));
  V sums[kSplit][kRows][kWide];
#pragma GCC unroll 16
  for (int s = 0; s < kSplit; ++s) {
    clear(sums[s]);
  }
  const float* b[kPanels];
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
    b[p] = panels[p].data;
  }
  constexpr bool kFetches = kRows * kWide > kChains;  // only where a step has the time
  const char* ahead = terms.ahead;
  const float* a[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    a[r] = rows.start(0, row + r);
  }
  V totals[kRows][kWide];
  if constexpr (Rows::kTapsApart) {
    clear(totals);
  }
  for (int64_t t = 0; t < terms.taps; ++t) {
    if constexpr (!Rows::kEven) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        a[r] = rows.start(t, row + r);
      }
    }
    const auto step = [&](int64_t k, V(&sum)[kRows][kWide]) HWY_ATTR {
      if constexpr (kFetches) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += terms.ahead_step;
      }
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
    };
    int64_t k = rows.offset(t);
    const int64_t end = k + terms.run;
    for (; k + kSplit <= end; k += kSplit) {
#pragma GCC unroll 16
      for (int s = 0; s < kSplit; ++s) {
        step(k + s, sums[s]);
      }
    }
    for (; kSplit > 1 && k < end; ++k) {
      step(k, sums[0]);
    }
    if constexpr (Rows::kTapsApart) {
#pragma GCC unroll 16
      for (int s = 0; s < kSplit; ++s) {
        add(sums[s], totals);
        clear(sums[s]);
      }
    }
  }
  if constexpr (!Rows::kTapsApart) {
#pragma GCC unroll 16
    for (int s = 1; s < kSplit; ++s) {
      add(sums[s], sums[0]);
    }
  }
  V(&results)[kRows][kWide] = Rows::kTapsApart ? totals : sums[0];
  if (HWY_LIKELY(whole)) {
    finish<kRows, kVectors, kPanels, true>(rows, terms, row, panels, results);
  } else {
    finish<kRows, kVectors, kPanels, false>(rows, terms, row, panels, results);
  }
}

template <int kVectors, typename Rows>
HWY_NOINLINE void panelRows(const Rows& rows, const Terms& terms, const PackedB::Panel* panel) {
  if (rows.count <= 2) {
    micro<2, kVectors, 1>(rows, terms, 0, panel);
  } else if (rows.count <= 4) {
    micro<4, kVectors, 1>(rows, terms, 0, panel);
  } else if constexpr (kMaxRows == kTileRows) {
    micro<kTileRows, kVectors, 1>(rows, terms, 0, panel);
  } else {
    micro<4, kVectors, 1>(rows, terms, 0, panel);
    if (HWY_LIKELY(rows.count > 6)) {
      micro<4, kVectors, 1>(rows, terms, 4, panel);
    } else {
      micro<2, kVectors, 1>(rows, terms, 4, panel);
    }
  }
}

// A single row takes two wide panels at once: more sums at a time.
template <typename Rows>
HWY_NOINLINE void singleRow(const Rows& rows, const Terms& terms, const PackedB::Panel* panels, int panel_count) {
  for (int p = 0; p < panel_count; ++p) {
    const PackedB::Panel* panel = panels + p;
    if (panel->vectors == 1) {
      micro<1, 1, 1>(rows, terms, 0, panel);
    } else if (panel->vectors == 2) {
      micro<1, 2, 1>(rows, terms, 0, panel);
    } else if (p + 1 < panel_count && panel[1].vectors == kMaxVectors) {
      micro<1, kMaxVectors, 2>(rows, terms, 0, panel);
      ++p;
    } else {
      micro<1, kMaxVectors, 1>(rows, terms, 0, panel);
    }
  }
}

template <typename Rows>
HWY_INLINE void runRows(const Rows& rows, const Terms& terms, const PackedB::Panel* panels, int panel_count) {
  if (rows.count == 1) {
    singleRow(rows, terms, panels, panel_count);
    return;
  }
  for (int p = 0; p < panel_count; ++p) {
    const PackedB::Panel* panel = panels + p;
    if (panel->vectors == 1) {
      panelRows<1>(rows, terms, panel);
    } else if (panel->vectors == 2) {
      panelRows<2>(rows, terms, panel);
    } else {
      panelRows<kMaxVectors>(rows, terms, panel);
    }
  }
}

void runTile(const Tile& tile) {
  const Terms terms = {tile.taps, tile.run, tile.bias, tile.residual != nullptr, *tile.epilogue};
  runRows(PointedRows{tile, tile.row_count}, terms, tile.panels.data(), static_cast<int>(tile.panels.size()));
}

template <bool kTapsApart>
void runSlab(const Slab& slab) {
  Terms terms = {slab.taps, slab.run, slab.bias, slab.residual != nullptr, *slab.epilogue};
  const int64_t tiles = (slab.rows + kTileRows - 1) / kTileRows;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t first = tile * kTileRows;
    const EvenRows<kTapsApart> rows(slab, first, static_cast<int>(std::min<int64_t>(kTileRows, slab.rows - first)));
    // A single row adds up in an order of its own, which must not depend on what comes next.
    if (slab.ahead == nullptr || rows.count == 1) {
      runRows(rows, terms, slab.panels.data(), static_cast<int>(slab.panels.size()));
      continue;
    }
    // Each tile fetches its share of each panel of the next block.
    const char* ahead = reinterpret_cast<const char*>(slab.ahead);
    for (const PackedB::Panel& panel : slab.panels) {
      const int64_t step_bytes = panel.vectors * static_cast<int64_t>(hn::Lanes(D()) * sizeof(float));
      const int64_t steps = slab.taps * slab.run;
      const int64_t bytes = slab.ahead_bytes == 0 ? steps * step_bytes : slab.ahead_bytes;
      terms.ahead = ahead + tile * bytes / tiles;
      terms.ahead_step = (bytes + steps * tiles - 1) / (steps * tiles);
      runRows(rows, terms, &panel, 1);
      ahead += bytes;
    }
  }
}

Functions functionsForTarget() {
  return {runTile, runSlab<false>, runSlab<true>};
}

PanelShape panelShapeForTarget() {
  return {static_cast<int>(hn::Lanes(D())), kMaxVectors};
}

}  // namespace
}  // namespace torchtrt::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::gemm {

HWY_EXPORT(functionsForTarget);
HWY_EXPORT(panelShapeForTarget);

Functions functions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

PanelShape panelShape() {
  return HWY_DYNAMIC_DISPATCH(panelShapeForTarget)();
}

}  // namespace torchtrt::kernels::gemm
#endif  // HWY_ONCE
