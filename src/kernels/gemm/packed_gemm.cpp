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
  // Few sums cannot hide the latency of multiply-add: then consecutive steps of the depth go to sums of their own.
  constexpr int kSplit = std::max(1, kChains / (kRows * kWide));
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
    micro<4, kVectors, 1>(rows, terms, 4, panel);
  }
}

// A single row takes several panels at once where there are: longer runs through memory, more sums at a time.
template <typename Rows>
HWY_NOINLINE void singleRow(const Rows& rows, const Terms& terms, const PackedB::Panel* panels, int panel_count) {
  constexpr int kTogether = 4;
  int p = 0;
  while (p < panel_count) {
    const PackedB::Panel* panel = panels + p;
    const int vectors = panel->vectors;
    const bool together = vectors > 1 && p + kTogether <= panel_count && panel[kTogether - 1].vectors == vectors;
    if (together && vectors == 2) {
      micro<1, 2, kTogether>(rows, terms, 0, panel);
    } else if (together) {
      micro<1, kMaxVectors, kTogether>(rows, terms, 0, panel);
    } else if (vectors == 1) {
      micro<1, 1, 1>(rows, terms, 0, panel);
    } else if (vectors == 2) {
      micro<1, 2, 1>(rows, terms, 0, panel);
    } else {
      micro<1, kMaxVectors, 1>(rows, terms, 0, panel);
    }
    p += together ? kTogether : 1;
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
      const int64_t panel_bytes = slab.taps * slab.run * step_bytes;
      terms.ahead = ahead + tile * panel_bytes / tiles;
      terms.ahead_step = (step_bytes + tiles - 1) / tiles;
      runRows(rows, terms, &panel, 1);
      ahead += panel_bytes;
    }
  }
}

Functions functionsForTarget() {
  return {runTile, runSlab<false>, runSlab<true>};
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

#include "device/constants.h"
#include "device/device.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::gemm {

HWY_EXPORT(functionsForTarget);
HWY_EXPORT(shapeForTarget);

Functions functions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

PackedB::PackedB(int64_t depth, int64_t columns, int64_t column_stride, const std::function<const float*(int64_t)>& row,
                 int threads)
    : depth_(depth), columns_(columns) {
  int lanes = 0;
  int max_vectors = 0;
  HWY_DYNAMIC_DISPATCH(shapeForTarget)(lanes, max_vectors);
  const int64_t vectors = (columns + lanes - 1) / lanes;
  const auto count = static_cast<size_t>(vectors * lanes * depth);
  bytes_ = count * sizeof(float);
  data_ = std::static_pointer_cast<float>(device::allocateConstant(bytes_, "packing weights"));
  for (int64_t vector = 0; vector < vectors;) {
    // Even shares: 4 vectors become 2 + 2, not 3 + 1.
    const int64_t panels_left = (vectors - vector + max_vectors - 1) / max_vectors;
    const int64_t width = (vectors - vector + panels_left - 1) / panels_left;
    const int64_t column = vector * lanes;
    const int64_t valid = std::min(width * lanes, columns - column);
    panels_.push_back({data_.get() + column * depth, static_cast<int32_t>(width), static_cast<int32_t>(column),
                       static_cast<int32_t>(valid)});
    vector += width;
  }
  constexpr int64_t kGrain = 65536;  // floats worth a thread
  const int64_t grain = std::max<int64_t>(1, kGrain / (depth * max_vectors * lanes + 1));
  parallelFor(threads, 0, static_cast<int64_t>(panels_.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Panel& panel = panels_[static_cast<size_t>(p)];
      float* to = data_.get() + panel.column * depth;
      for (int64_t k = 0; k < depth; ++k) {
        const float* from = row(k) + panel.column * column_stride;
        if (column_stride == 1) {
          std::copy_n(from, panel.valid, to);
        } else {
          for (int64_t n = 0; n < panel.valid; ++n) {
            to[n] = from[n * column_stride];
          }
        }
        std::fill(to + panel.valid, to + panel.vectors * lanes, 0.0F);
        to += panel.vectors * lanes;
      }
    }
  });
}

// A quarter of the second-level cache: the block in use, the one that is fetched meanwhile and the rows share it.
static int64_t blockBytes() {
  constexpr int64_t kLeast = 128 * 1024;
  constexpr int64_t kMost = 512 * 1024;
  return std::clamp(static_cast<int64_t>(device::cpu().properties().l2_bytes) / 4, kLeast, kMost);  // 0: not known
}

Blocking chooseBlocking(const PackedB& b, int64_t rows, int threads) {
  const auto panels = static_cast<int64_t>(b.panels().size());
  const int64_t panel_bytes = std::max<int64_t>(1, static_cast<int64_t>(b.bytes()) / panels);
  Blocking blocking;
  blocking.tiles = (rows + kTileRows - 1) / kTileRows;
  const int64_t most = std::clamp<int64_t>(blockBytes() / panel_bytes, 1, panels);
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

void runUnits(const PackedB& b, const Blocking& blocking, const Functions& functions, Slab slab, int64_t begin,
              int64_t end) {
  const Slab whole = slab;
  while (begin < end) {
    const int64_t block = begin / blocking.tiles;
    const int64_t tile = begin % blocking.tiles;
    const int64_t tiles = std::min(end - begin, blocking.tiles - tile);
    const int64_t first = tile * kTileRows;
    slab.panels = panelsOf(b, blocking, block);
    slab.ahead = block + 1 < blocking.blocks ? panelsOf(b, blocking, block + 1).front().data : nullptr;
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

Epilogue makeEpilogue(const std::string& activation, double alpha, double beta) {
  Epilogue epilogue;
  if (activation == "relu") {
    epilogue.kind = Epilogue::Kind::kClamp;
    epilogue.high = std::numeric_limits<float>::infinity();
  } else if (activation == "clip") {
    epilogue.kind = Epilogue::Kind::kClamp;
    epilogue.low = static_cast<float>(alpha);
    epilogue.high = static_cast<float>(beta);
  } else if (activation == "hard_swish") {
    epilogue.kind = Epilogue::Kind::kHardSwish;
  } else if (!activation.empty()) {
    epilogue.kind = Epilogue::Kind::kRows;
    epilogue.rows = activationRows(activation, alpha, beta);
  }
  return epilogue;
}

}  // namespace torchtrt::kernels::gemm
#endif  // HWY_ONCE
