#include "cpu/attention/head_kernel.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/attention/head_kernel.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::attention::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

using D = math::FloatTag;
using V = math::FloatVec;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Two vectors of columns: what is left of the registers holds six rows of sums, twelve where there are 32 of them.
constexpr int64_t kPanelVectors = 2;
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

template <int kRows, int kVectors>
HWY_INLINE void computeTile(const Product& p, int64_t row, int64_t column) {
  const D d;
  const int64_t n = lanes();
  const float* const a = p.a + row * p.a_stride;
  const float* b = p.panels + column * p.panel_depth;
  V sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < p.depth; ++k, b += kPanelVectors * n) {
    V line[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      line[v] = hn::LoadU(d, b + v * n);
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[r * p.a_stride + k]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(x, line[v], sums[r][v]);
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    float* const out = p.out + (row + r) * p.out_stride + column;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      if (p.factors == nullptr) {
        hn::StoreU(sums[r][v], d, out + v * n);
        continue;
      }
      const V value = hn::Mul(sums[r][v], hn::Set(d, p.factors[row + r]));
      const int64_t valid = p.columns - column - v * n;
      if (valid >= n) {
        hn::StoreU(value, d, out + v * n);
      } else {
        hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(valid)), d, out + v * n);
      }
    }
  }
}

template <int kRows>
void computeRows(const Product& p, int64_t row, int64_t column) {
  if (p.columns - column > lanes()) {
    computeTile<kRows, 2>(p, row, column);
  } else {
    computeTile<kRows, 1>(p, row, column);
  }
}

void computeProduct(const Product& p) {
  using Compute = void (*)(const Product&, int64_t, int64_t);
  constexpr Compute kCompute[] = {
    computeRows<1>,
    computeRows<2>,
    computeRows<3>,
    computeRows<4>,
    computeRows<5>,
    computeRows<6>,
#if HWY_TARGET <= HWY_AVX3
    computeRows<7>,
    computeRows<8>,
    computeRows<9>,
    computeRows<10>,
    computeRows<11>,
    computeRows<12>,
#endif
  };
  // Tiles are as even as can be: one of few rows takes as long as one of many.
  const int64_t tiles = (p.rows + kTileRows - 1) / kTileRows;
  for (int64_t column = 0; column < p.columns; column += kPanelVectors * lanes()) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t first = p.rows * tile / tiles, last = p.rows * (tile + 1) / tiles;
      kCompute[last - first - 1](p, first, column);
    }
  }
}

// Four by four: columns of b lie along its memory.
HWY_INLINE void packTransposed(const float* data, int64_t column_stride, int64_t depth, int64_t columns, float* panel,
                               int64_t width) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d;
  for (; j + 4 <= columns; j += 4) {
    const float* const from = data + j * column_stride;
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const auto a = hn::LoadU(d, from + k), b = hn::LoadU(d, from + column_stride + k),
                 c = hn::LoadU(d, from + 2 * column_stride + k), e = hn::LoadU(d, from + 3 * column_stride + k);
      const auto ac = hn::InterleaveLower(d, a, c), ac2 = hn::InterleaveUpper(d, a, c);
      const auto be = hn::InterleaveLower(d, b, e), be2 = hn::InterleaveUpper(d, b, e);
      float* const to = panel + k * width + j;
      hn::StoreU(hn::InterleaveLower(d, ac, be), d, to);
      hn::StoreU(hn::InterleaveUpper(d, ac, be), d, to + width);
      hn::StoreU(hn::InterleaveLower(d, ac2, be2), d, to + 2 * width);
      hn::StoreU(hn::InterleaveUpper(d, ac2, be2), d, to + 3 * width);
    }
    for (; k < depth; ++k) {
      for (int64_t i = 0; i < 4; ++i) {
        panel[k * width + j + i] = from[i * column_stride + k];
      }
    }
  }
#endif
  for (; j < columns; ++j) {
    for (int64_t k = 0; k < depth; ++k) {
      panel[k * width + j] = data[j * column_stride + k];
    }
  }
}

void pack(const float* data, int64_t row_stride, int64_t column_stride, int64_t depth, int64_t columns, float* panels) {
  const D d;
  const int64_t width = kPanelVectors * lanes();
  for (int64_t column = 0; column < columns; column += width) {
    float* const panel = panels + column * depth;
    const float* const from = data + column * column_stride;
    const int64_t valid = std::min(width, columns - column);
    if (row_stride == 1 && column_stride != 1) {
      packTransposed(from, column_stride, depth, valid, panel, width);
    } else if (column_stride == 1 && valid == width) {
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t j = 0; j < width; j += lanes()) {
          hn::StoreU(hn::LoadU(d, from + k * row_stride + j), d, panel + k * width + j);
        }
      }
    } else {
      for (int64_t k = 0; k < depth; ++k) {
        const float* const line = from + k * row_stride;
        for (int64_t j = 0; j < valid; ++j) {
          panel[k * width + j] = line[j * column_stride];
        }
      }
    }
    for (int64_t k = 0; valid < width && k < depth; ++k) {
      std::fill(panel + k * width + valid, panel + (k + 1) * width, 0.0F);
    }
  }
}

bool areFinite(const float* values, int64_t count) {
  const D d;
  V sum = hn::Zero(d);  // of zeros, and of NaN where a value is not finite
  for (int64_t i = 0; i < count; i += lanes()) {
    sum = hn::MulAdd(hn::LoadU(d, values + i), hn::Zero(d), sum);
  }
  return hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
}

// Returns the mask of the scores from i on that a mask of bytes keeps.
HWY_INLINE hn::Mask<D> keptOf(const uint8_t* bytes, int64_t i, int64_t valid) {
  const hn::Rebind<uint8_t, D> d8;
  const hn::RebindToSigned<D> di;
  HWY_ALIGN uint8_t rest[HWY_MAX_BYTES / sizeof(float)] = {};
  if (valid < lanes()) {
    std::copy_n(bytes + i, valid, rest);
  }
  const auto loaded = valid < lanes() ? hn::LoadU(d8, rest) : hn::LoadU(d8, bytes + i);
  return hn::RebindMask(D(), hn::Ne(hn::PromoteTo(di, loaded), hn::Zero(di)));
}

HWY_INLINE V masked(V score, std::span<const Mask> masks, int64_t row, int64_t i, int64_t valid) {
  const D d;
  for (const Mask& mask : masks) {
    if (mask.chosen != nullptr) {
      const auto kept = keptOf(mask.chosen + row * mask.stride, i, valid);
      score = hn::IfThenElse(kept, score, math::constant(-kInfinity));
      continue;
    }
    const float* const added = mask.added + row * mask.stride + i;
    score = hn::Add(score, valid < lanes() ? hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(valid)), d, added)
                                           : hn::LoadU(d, added));
  }
  return score;
}

int64_t countOf(const Softmax& softmax, int64_t row) {
  return std::clamp<int64_t>(softmax.first_count + row, 0, softmax.count);
}

// Scales and masks the scores of a row, whole vectors by mask_whole(scores, i), fills the last vector with minus
// infinity, and returns the greatest. A NaN may get lost in that, but not in the exponentials.
template <typename MaskWhole>
HWY_INLINE float maskRowBy(const Softmax& softmax, int64_t row, float* scores, int64_t count, MaskWhole mask_whole) {
  const D d;
  const int64_t n = lanes();
  const V scale = hn::Set(d, softmax.scale);
  V most = math::constant(-kInfinity);
  int64_t i = 0;
  for (; i + n <= count; i += n) {
    const V score = mask_whole(hn::Mul(hn::LoadU(d, scores + i), scale), i);
    hn::StoreU(score, d, scores + i);
    most = hn::Max(score, most);
  }
  if (i < count) {
    const V score = masked(hn::Mul(hn::LoadU(d, scores + i), scale), softmax.masks, row, i, count - i);
    const V rest = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(count - i)), score, math::constant(-kInfinity));
    hn::StoreU(rest, d, scores + i);
    most = hn::Max(rest, most);
  }
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

HWY_INLINE float maskRow(const Softmax& softmax, int64_t row, float* scores, int64_t count) {
  const D d;
  const std::span<const Mask> masks = softmax.masks;
  const auto addedBy = [&](size_t i) { return masks[i].added + row * masks[i].stride; };
  if (masks.empty()) {
    return maskRowBy(softmax, row, scores, count, [](V score, int64_t) HWY_ATTR { return score; });
  }
  if (masks.size() == 1 && masks[0].added != nullptr) {
    return maskRowBy(softmax, row, scores, count,
                     [d, a = addedBy(0)](V score, int64_t i) HWY_ATTR { return hn::Add(score, hn::LoadU(d, a + i)); });
  }
  if (masks.size() == 2 && masks[0].added != nullptr && masks[1].added != nullptr) {
    return maskRowBy(softmax, row, scores, count, [d, a = addedBy(0), b = addedBy(1)](V score, int64_t i) HWY_ATTR {
      return hn::Add(hn::Add(score, hn::LoadU(d, a + i)), hn::LoadU(d, b + i));
    });
  }
  return maskRowBy(softmax, row, scores, count,
                   [&](V score, int64_t i) HWY_ATTR { return masked(score, masks, row, i, lanes()); });
}

constexpr float kLeastNormal = -87.3F;  // e^x of less is no normal number
constexpr float kLeast = -104.0F;       // e^x of less is 0 in float32

// Computes e^x for x <= 0. A result that is no normal number is the least one, or 0 below e^least.
HWY_INLINE V weightOf(V x, V least) {
  const V normal = math::normalExponential(math::atLeast(x, math::constant(kLeastNormal)));
  return hn::IfThenZeroElse(hn::Lt(x, least), normal);
}

// Returns the sum of the exponentials.
HWY_INLINE float exponentiateRow(float* scores, int64_t count, float greatest, bool drops_least) {
  const D d;
  const int64_t n = lanes();
  const V shift = hn::Set(d, greatest);
  const V least = hn::Set(d, drops_least ? kLeastNormal : kLeast);
  V sums[2] = {hn::Zero(d), hn::Zero(d)};
  int64_t i = 0;
  for (; i + n < count; i += 2 * n) {
#pragma GCC unroll 2
    for (int64_t j = 0; j < 2; ++j) {
      const V weight = weightOf(hn::Sub(hn::LoadU(d, scores + i + j * n), shift), least);
      hn::StoreU(weight, d, scores + i + j * n);
      sums[j] = hn::Add(sums[j], weight);
    }
  }
  if (i < count) {
    const V weight = weightOf(hn::Sub(hn::LoadU(d, scores + i), shift), least);
    hn::StoreU(weight, d, scores + i);
    sums[0] = hn::Add(sums[0], weight);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sums[0], sums[1])));
}

// All rows are masked before the first is exponentiated, so that none waits for its own maximum.
void weigh(const Softmax& softmax) {
  for (int64_t row = 0; row < softmax.rows; ++row) {
    softmax.factors[row] = maskRow(softmax, row, softmax.scores + row * softmax.stride, countOf(softmax, row));
  }
  for (int64_t row = 0; row < softmax.rows; ++row) {
    float* const scores = softmax.scores + row * softmax.stride;
    const int64_t count = countOf(softmax, row);
    const float greatest = softmax.factors[row];
    if (count == 0 || (softmax.safe && greatest == -kInfinity &&
                       std::all_of(scores, scores + count, [](float score) { return score == -kInfinity; }))) {
      std::fill_n(scores, softmax.count, 0.0F);
      softmax.factors[row] = 1.0F;
      continue;
    }
    softmax.factors[row] = 1.0F / exponentiateRow(scores, count, greatest, softmax.drops_least);
    if (count < softmax.count) {
      std::fill(scores + count, scores + softmax.count, 0.0F);
    }
  }
}

// The rows of a tile, and the keys: so many sums are in registers at a time, and do not wait for each other.
constexpr int64_t kDotRows = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr int64_t kDotKeys = 4;

template <int kRows, int kKeys>
HWY_INLINE void dotTile(const Dots& p, int64_t row, int64_t key) {
  const D d;
  const int64_t n = lanes();
  const float* const queries = p.queries + row * p.query_stride;
  const float* const keys = p.keys + key * p.key_stride;
  V sums[kRows][kKeys];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kKeys; ++j) {
      sums[r][j] = hn::Zero(d);
    }
  }
  const auto add = [&](auto load, int64_t i) HWY_ATTR {
    V key_parts[kKeys];
#pragma GCC unroll 4
    for (int j = 0; j < kKeys; ++j) {
      key_parts[j] = load(keys + j * p.key_stride + i);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V query = load(queries + r * p.query_stride + i);
#pragma GCC unroll 4
      for (int j = 0; j < kKeys; ++j) {
        sums[r][j] = hn::MulAdd(query, key_parts[j], sums[r][j]);
      }
    }
  };
  int64_t i = 0;
  for (; i + n <= p.size; i += n) {
    add([d](const float* from) HWY_ATTR { return hn::LoadU(d, from); }, i);
  }
  if (i < p.size) {
    const auto rest = hn::FirstN(d, static_cast<size_t>(p.size - i));
    add([d, rest](const float* from) HWY_ATTR { return hn::MaskedLoad(rest, d, from); }, i);
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kKeys; ++j) {
      p.scores[(row + r) * p.score_stride + key + j] = hn::GetLane(hn::SumOfLanes(d, sums[r][j]));
    }
  }
}

template <int kRows>
void dotRows(const Dots& p, int64_t row) {
  int64_t key = 0;
  for (; key + kDotKeys <= p.count; key += kDotKeys) {
    dotTile<kRows, kDotKeys>(p, row, key);
  }
  for (; key < p.count; ++key) {
    dotTile<kRows, 1>(p, row, key);
  }
}

void computeDots(const Dots& p) {
  using Compute = void (*)(const Dots&, int64_t);
  constexpr Compute kCompute[] = {dotRows<1>, dotRows<2>, dotRows<3>, dotRows<4>};
  for (int64_t row = 0; row < p.rows; row += kDotRows) {
    kCompute[std::min(kDotRows, p.rows - row) - 1](p, row);
  }
}

constexpr int kMixVectors = 4;

// `valid` elements from `column` on.
template <int kRows>
HWY_INLINE void mixTile(const Mixture& p, int64_t row, int64_t column, int64_t valid) {
  const D d;
  const int64_t n = lanes();
  const bool is_whole = valid == kMixVectors * n;
  const auto partOf = [&](int v) HWY_ATTR {
    return hn::FirstN(d, static_cast<size_t>(std::clamp<int64_t>(valid - v * n, 0, n)));
  };
  V sums[kRows][kMixVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kMixVectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  for (int64_t j = 0; j < p.count; ++j) {
    const float* const value = p.values + j * p.value_stride + column;
    V parts[kMixVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kMixVectors; ++v) {
      parts[v] = is_whole ? hn::LoadU(d, value + v * n) : hn::MaskedLoad(partOf(v), d, value + v * n);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V weight = hn::Set(d, p.weights[(row + r) * p.weight_stride + j]);
#pragma GCC unroll 4
      for (int v = 0; v < kMixVectors; ++v) {
        sums[r][v] = hn::MulAdd(weight, parts[v], sums[r][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const V factor = hn::Set(d, p.factors[row + r]);
    float* const out = p.out + (row + r) * p.out_stride + column;
#pragma GCC unroll 4
    for (int v = 0; v < kMixVectors; ++v) {
      hn::BlendedStore(hn::Mul(sums[r][v], factor), partOf(v), d, out + v * n);
    }
  }
}

void computeMixture(const Mixture& p) {
  using Compute = void (*)(const Mixture&, int64_t, int64_t, int64_t);
  constexpr Compute kCompute[] = {mixTile<1>, mixTile<2>, mixTile<3>, mixTile<4>};
  const int64_t width = kMixVectors * lanes();
  for (int64_t column = 0; column < p.size; column += width) {
    for (int64_t row = 0; row < p.rows; row += kDotRows) {
      kCompute[std::min(kDotRows, p.rows - row) - 1](p, row, column, std::min(width, p.size - column));
    }
  }
}

const HeadFunctions& functionsForTarget() {
  static const HeadFunctions functions = {kPanelVectors * lanes(), pack, areFinite, computeProduct, weigh, computeDots,
                                          computeMixture};
  return functions;
}

}  // namespace
}  // namespace torchtrt::kernels::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::attention {

HWY_EXPORT(functionsForTarget);

const HeadFunctions& headFunctions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels::attention
#endif  // HWY_ONCE
