#include "cpu/gemm/packed_gemm.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/gemm/packed_gemm.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/gemm/epilogue-inl.h"
#include "cpu/gemm/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::gemm::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
template <typename T>
using D = hn::ScalableTag<T>;
template <typename T>
using V = hn::Vec<D<T>>;

// Accumulators, one row of B and one broadcast value have to fit the vector registers: 32 with AVX-512, 16 before.
constexpr int kMaxVectors = 3;
// Multiply-adds under way at a time: two a cycle, four cycles each.
constexpr int kChains = 8;
constexpr int kMaxRows = HWY_TARGET == HWY_AVX3 ? 8 : 4;

// All rows of a tile share these.
template <typename T>
struct Terms {
  int64_t taps;
  int64_t run;
  const T* bias;
  bool has_residual;
  const EpilogueOf<T>& epilogue;
  // The memory to bring into the second-level cache meanwhile, and its bytes per step of the depth.
  const char* ahead = nullptr;
  int64_t ahead_step = 0;
};

template <bool kWhole, typename T>
HWY_INLINE V<T> loadPart(const T* from, int64_t valid) {
  const D<T> d;
  return kWhole ? hn::LoadU(d, from)
                : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(valid, 0))), d, from);
}

template <int kVectors, int kPanels, bool kWhole, typename T>
HWY_INLINE void loadBias(const T* bias, const PanelOf<T>* panels, V<T>* line) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D<T>()));
#pragma GCC unroll 16
  for (int i = 0; i < kVectors * kPanels; ++i) {
    const PanelOf<T>& panel = panels[i / kVectors];
    const int64_t within = i % kVectors * lanes;
    line[i] = loadPart<kWhole>(bias + panel.column + within, panel.valid - within);
  }
}

template <int kRows, int kVectors, int kPanels, bool kWhole, typename Rows, typename T = typename Rows::Element>
HWY_INLINE void finish(const Rows& rows, const Terms<T>& terms, int row, const PanelOf<T>* panels,
                       V<T> (&sum)[kRows][kVectors * kPanels]) {
  constexpr int kWide = kVectors * kPanels;
  const D<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Read before anything is stored: the compiler has to take a store for a change of everything.
  int64_t columns[kWide];
  hn::Mask<D<T>> masks[kWide];
#pragma GCC unroll 16
  for (int i = 0; i < kWide; ++i) {
    const PanelOf<T>& panel = panels[i / kVectors];
    const int64_t within = i % kVectors * lanes;
    columns[i] = panel.column + within;
    masks[i] = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(panel.valid - within, 0)));
  }
  T* out[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    out[r] = rows.out(row + r);
  }
  if (terms.bias != nullptr) {
    V<T> line[kWide];
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
      const T* residual = rows.residual(row + r);
#pragma GCC unroll 16
      for (int i = 0; i < kWide; ++i) {
        const T* from = residual + columns[i];
        sum[r][i] = hn::Add(sum[r][i], kWhole ? hn::LoadU(d, from) : hn::MaskedLoad(masks[i], d, from));
      }
    }
  }
  applyEpilogue<kRows * kWide>(terms.epilogue, &sum[0][0]);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kWide; ++i) {
      if constexpr (kWhole) {
        hn::StoreU(sum[r][i], d, out[r] + columns[i]);
      } else {
        hn::BlendedStore(sum[r][i], masks[i], d, out[r] + columns[i]);
      }
    }
  }
}

template <typename T, int kRows, int kWide>
HWY_INLINE void clear(V<T> (&sums)[kRows][kWide]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kWide; ++i) {
      sums[r][i] = hn::Zero(D<T>());
    }
  }
}

template <typename T, int kRows, int kWide>
HWY_INLINE void add(const V<T> (&sums)[kRows][kWide], V<T> (&to)[kRows][kWide]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < kWide; ++i) {
      to[r][i] = hn::Add(to[r][i], sums[r][i]);
    }
  }
}

// kRows rows from `row` times kPanels panels of kVectors vectors each, over the whole depth.
template <int kRows, int kVectors, int kPanels, typename Rows, typename T = typename Rows::Element>
HWY_INLINE void micro(const Rows& rows, const Terms<T>& terms, int row, const PanelOf<T>* panels) {
  const D<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kWide = kVectors * kPanels;
  // Only the last panel can be cut.
  const bool whole = panels[kPanels - 1].valid == kVectors * lanes;
  V<T> line[kWide];
  // Few sums cannot hide the latency of multiply-add: then consecutive steps of the depth go to sums of their own. A
  // single row's are as many whether its panel is taken alone or with another: what lies beside it must not show.
  constexpr int kSplit = Rows::kInOrder ? 1 : std::max(1, kChains / (kRows * (kRows == 1 ? kVectors : kWide)));
  V<T> sums[kSplit][kRows][kWide];
#pragma GCC unroll 16
  for (int s = 0; s < kSplit; ++s) {
    clear<T>(sums[s]);
  }
  const T* b[kPanels];
#pragma GCC unroll 16
  for (int p = 0; p < kPanels; ++p) {
    b[p] = panels[p].data;
  }
  constexpr bool kFetches = kRows * kWide > kChains;  // only where a step has the time
  const char* ahead = terms.ahead;
  const T* a[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    a[r] = rows.start(0, row + r);
  }
  V<T> totals[kRows][kWide];
  if constexpr (Rows::kTapsApart) {
    clear<T>(totals);
  }
  for (int64_t t = 0; t < terms.taps; ++t) {
    if constexpr (!Rows::kEven) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        a[r] = rows.start(t, row + r);
      }
    }
    const auto step = [&](int64_t k, V<T>(&sum)[kRows][kWide]) HWY_ATTR {
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
        const V<T> value = hn::Set(d, a[r][k]);
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
        add<T>(sums[s], totals);
        clear<T>(sums[s]);
      }
    }
  }
  if constexpr (!Rows::kTapsApart) {
#pragma GCC unroll 16
    for (int s = 1; s < kSplit; ++s) {
      add<T>(sums[s], sums[0]);
    }
  }
  V<T>(&results)[kRows][kWide] = Rows::kTapsApart ? totals : sums[0];
  if (HWY_LIKELY(whole)) {
    finish<kRows, kVectors, kPanels, true>(rows, terms, row, panels, results);
  } else {
    finish<kRows, kVectors, kPanels, false>(rows, terms, row, panels, results);
  }
}

template <int kVectors, typename Rows, typename T = typename Rows::Element>
HWY_NOINLINE void panelRows(const Rows& rows, const Terms<T>& terms, const PanelOf<T>* panel) {
  if (rows.count <= 2) {
    micro<2, kVectors, 1>(rows, terms, 0, panel);
  } else if (rows.count <= 4) {
    micro<4, kVectors, 1>(rows, terms, 0, panel);
  } else if constexpr (kMaxRows == kTileRows) {
    if (HWY_LIKELY(rows.count > 6)) {
      micro<kTileRows, kVectors, 1>(rows, terms, 0, panel);
    } else {
      micro<6, kVectors, 1>(rows, terms, 0, panel);
    }
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
template <typename Rows, typename T = typename Rows::Element>
HWY_NOINLINE void singleRow(const Rows& rows, const Terms<T>& terms, const PanelOf<T>* panels, int panel_count) {
  for (int p = 0; p < panel_count; ++p) {
    const PanelOf<T>* panel = panels + p;
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

template <typename Rows, typename T = typename Rows::Element>
HWY_INLINE void runRows(const Rows& rows, const Terms<T>& terms, const PanelOf<T>* panels, int panel_count) {
  if (rows.count == 1) {
    singleRow(rows, terms, panels, panel_count);
    return;
  }
  for (int p = 0; p < panel_count; ++p) {
    const PanelOf<T>* panel = panels + p;
    if (panel->vectors == 1) {
      panelRows<1>(rows, terms, panel);
    } else if (panel->vectors == 2) {
      panelRows<2>(rows, terms, panel);
    } else {
      panelRows<kMaxVectors>(rows, terms, panel);
    }
  }
}

template <typename T, bool kOrdered>
void runTile(const TileOf<T>& tile) {
  const Terms<T> terms = {tile.taps, tile.run, tile.bias, tile.residual != nullptr, *tile.epilogue};
  runRows(PointedRows<T, kOrdered>{tile, tile.row_count}, terms, tile.panels.data(),
          static_cast<int>(tile.panels.size()));
}

template <typename T, bool kTapsApart, bool kOrdered>
void runSlab(const SlabOf<T>& slab) {
  Terms<T> terms = {slab.taps, slab.run, slab.bias, slab.residual != nullptr, *slab.epilogue};
  const int64_t tiles = (slab.rows + kTileRows - 1) / kTileRows;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t first = tile * kTileRows;
    const EvenRows<T, kTapsApart, kOrdered> rows(slab, first,
                                                 static_cast<int>(std::min<int64_t>(kTileRows, slab.rows - first)));
    // A single row adds up in an order of its own, which must not depend on what comes next.
    if (slab.ahead == nullptr || rows.count == 1) {
      runRows(rows, terms, slab.panels.data(), static_cast<int>(slab.panels.size()));
      continue;
    }
    // Each tile fetches its share of each panel of the next block.
    const char* ahead = reinterpret_cast<const char*>(slab.ahead);
    for (const PanelOf<T>& panel : slab.panels) {
      const int64_t step_bytes = panel.vectors * static_cast<int64_t>(hn::Lanes(D<T>()) * sizeof(T));
      const int64_t steps = slab.taps * slab.run;
      const int64_t bytes = slab.ahead_bytes == 0 ? steps * step_bytes : slab.ahead_bytes;
      terms.ahead = ahead + tile * bytes / tiles;
      terms.ahead_step = (bytes + steps * tiles - 1) / (steps * tiles);
      runRows(rows, terms, &panel, 1);
      ahead += bytes;
    }
  }
}

template <typename T, bool kOrdered>
FunctionsOf<T> functionsIn() {
  return {runTile<T, kOrdered>, runSlab<T, false, kOrdered>, runSlab<T, true, kOrdered>};
}
FunctionsOf<float> floatFunctions(RowOrder order) {
  return order == RowOrder::kSame ? functionsIn<float, true>() : functionsIn<float, false>();
}
FunctionsOf<double> doubleFunctions(RowOrder order) {
  return order == RowOrder::kSame ? functionsIn<double, true>() : functionsIn<double, false>();
}

PanelShape floatPanels() {
  return {static_cast<int>(hn::Lanes(D<float>())), kMaxVectors};
}
PanelShape doublePanels() {
  return {static_cast<int>(hn::Lanes(D<double>())), kMaxVectors};
}

}  // namespace
}  // namespace torchtrt::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::gemm {

HWY_EXPORT(floatFunctions);
HWY_EXPORT(doubleFunctions);
HWY_EXPORT(floatPanels);
HWY_EXPORT(doublePanels);

template <>
FunctionsOf<float> functions(RowOrder order) {
  return HWY_DYNAMIC_DISPATCH(floatFunctions)(order);
}
template <>
FunctionsOf<double> functions(RowOrder order) {
  return HWY_DYNAMIC_DISPATCH(doubleFunctions)(order);
}

template <>
PanelShape panelShape<float>() {
  return HWY_DYNAMIC_DISPATCH(floatPanels)();
}
template <>
PanelShape panelShape<double>() {
  return HWY_DYNAMIC_DISPATCH(doublePanels)();
}

}  // namespace torchtrt::kernels::gemm
#endif  // HWY_ONCE
