#include "cpu/convolution/direct/depthwise_row.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/direct/depthwise_row.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/gemm/epilogue-inl.h"
#include "cpu/loops/pieces.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

using Mask = hn::Mask<D>;

// Vector j of kVectors, of which the last is cut by the mask where kPartial.
template <int kVectors, bool kPartial>
HWY_INLINE V load(const float* from, int j, int64_t lanes, Mask last) {
  return kPartial && j == kVectors - 1 ? hn::MaskedLoad(last, D(), from + j * lanes) : hn::LoadU(D(), from + j * lanes);
}

// kColumns output pixels times kVectors vectors of channels; kPartial: the last vector may be cut; kInside: no tap of
// the tile touches padding at the left or right.
template <int kColumns, int kVectors, bool kPartial, bool kInside>
HWY_INLINE void tile(const Row& row, const DepthwiseBlock& block, int64_t column) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Mask last = hn::FirstN(d, static_cast<size_t>(block.valid - (kVectors - 1) * lanes));
  V sum[kColumns][kVectors];
#pragma GCC unroll 16
  for (int j = 0; j < kVectors; ++j) {
    const V bias =
        row.bias != nullptr ? load<kVectors, kPartial>(row.bias + block.channel, j, lanes, last) : hn::Zero(d);
#pragma GCC unroll 16
    for (int o = 0; o < kColumns; ++o) {
      sum[o][j] = bias;
    }
  }
  const float* weights = block.weights;
  const int64_t first = column * row.stride - row.padding;
  for (int64_t t = 0; t < row.line_taps; ++t) {
    if (row.lines[t] == nullptr) {
      weights += row.width_taps * kVectors * lanes;
      continue;
    }
    // One pointer per column: they move together, and vectors are at fixed distances from them.
    const float* from[kColumns];
    from[0] = row.lines[t] + block.channel + first * row.pixel_stride;
#pragma GCC unroll 16
    for (int o = 1; o < kColumns; ++o) {
      from[o] = from[o - 1] + row.stride * row.pixel_stride;
    }
    for (int64_t k = 0; k < row.width_taps; ++k) {
      V weight[kVectors];
#pragma GCC unroll 16
      for (int j = 0; j < kVectors; ++j) {
        weight[j] = hn::Load(d, weights + j * lanes);
      }
#pragma GCC unroll 16
      for (int o = 0; o < kColumns; ++o) {
        const int64_t x = first + o * row.stride + k * row.dilation;
        const float* at = kInside || (x >= 0 && x < row.width) ? from[o] : row.zeros;
#pragma GCC unroll 16
        for (int j = 0; j < kVectors; ++j) {
          sum[o][j] = hn::MulAdd(load<kVectors, kPartial>(at, j, lanes, last), weight[j], sum[o][j]);
        }
        from[o] += row.dilation * row.pixel_stride;
      }
      weights += kVectors * lanes;
    }
  }
  gemm::HWY_NAMESPACE::applyEpilogue<kColumns * kVectors>(*row.epilogue, &sum[0][0]);
#pragma GCC unroll 16
  for (int o = 0; o < kColumns; ++o) {
    float* out = row.out + (column + o) * row.out_stride + block.channel;
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      if (kPartial && j == kVectors - 1) {
        hn::BlendedStore(sum[o][j], last, d, out + j * lanes);
      } else {
        hn::StoreU(sum[o][j], d, out + j * lanes);
      }
    }
  }
}

template <int kColumns, int kVectors, bool kPartial>
HWY_INLINE int64_t tiles(const Row& row, const DepthwiseBlock& block, int64_t column) {
  const int64_t reach = (kColumns - 1) * row.stride + (row.width_taps - 1) * row.dilation;
  for (; column + kColumns <= row.columns; column += kColumns) {
    const int64_t first = column * row.stride - row.padding;
    if (first >= 0 && first + reach < row.width) {
      tile<kColumns, kVectors, kPartial, true>(row, block, column);
    } else {
      tile<kColumns, kVectors, kPartial, false>(row, block, column);
    }
  }
  return column;
}

template <int kColumns, int kVectors, bool kPartial>
HWY_NOINLINE void columns(const Row& row, const DepthwiseBlock& block) {
  int64_t column = tiles<kColumns, kVectors, kPartial>(row, block, 0);
  if constexpr (kColumns > 4) {
    column = tiles<4, kVectors, kPartial>(row, block, column);
  }
  if constexpr (kColumns > 2) {
    column = tiles<3, kVectors, kPartial>(row, block, column);
  }
  column = tiles<2, kVectors, kPartial>(row, block, column);
  tiles<1, kVectors, kPartial>(row, block, column);
}

// Tells which sides of a tile are padding. Padding is as wide as a filter needs that keeps (or halves) the image's
// size, or as the rows say.
struct Edges {
  bool left;
  bool right;
  bool any;  // asks for each column

  constexpr bool exists(int column, int taps, int stride, int reach) const {
    return !(left && column < taps / 2) && !(right && column >= reach - (taps / 2 - (stride - 1)));
  }
};
constexpr Edges kInside{false, false, false}, kLeft{true, false, false}, kRight{false, true, false},
    kBoth{true, true, false}, kAny{false, false, true};

// kColumns output pixels of one vector of channels, for kernels of kTaps columns: the weights of a line stay in
// registers, and every input pixel is loaded once a line and multiplied for all outputs that it reaches. Sums are taken
// in the order of tile().
template <int kTaps, int kStride, int kColumns, bool kPartial, const Edges& kEdges>
HWY_INLINE void slide(const Row& row, const DepthwiseBlock& block, int64_t column, int j) {
  const D d;
  constexpr int kReach = (kColumns - 1) * kStride + kTaps;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t within = j * lanes;
  const Mask mask = hn::FirstN(d, static_cast<size_t>(block.valid - within));
  const auto read = [&](const float* from)
                        HWY_ATTR { return kPartial ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from); };
  V sum[kColumns];
  const V bias = row.bias != nullptr ? read(row.bias + block.channel + within) : hn::Zero(d);
#pragma GCC unroll 16
  for (int o = 0; o < kColumns; ++o) {
    sum[o] = bias;
  }
  const int64_t step = block.vectors * lanes;  // from one tap's weights to the next one's
  const float* weights = block.weights + within;
  const int64_t first = column * kStride - row.padding;
  for (int64_t t = 0; t < row.line_taps; ++t, weights += kTaps * step) {
    if (row.lines[t] == nullptr) {
      continue;
    }
    V weight[kTaps];
#pragma GCC unroll 16
    for (int k = 0; k < kTaps; ++k) {
      weight[k] = hn::Load(d, weights + k * step);
    }
    const float* from = row.lines[t] + block.channel + within + first * row.pixel_stride;
#pragma GCC unroll 32
    for (int i = 0; i < kReach; ++i, from += row.pixel_stride) {
      if (!kEdges.exists(i, kTaps, kStride, kReach)) {
        continue;
      }
      const bool padded = kEdges.any && (first + i < 0 || first + i >= row.width);
      const V x = read(padded ? row.zeros : from);
#pragma GCC unroll 16
      for (int o = 0; o < kColumns; ++o) {
        if (i >= o * kStride && i < o * kStride + kTaps) {
          sum[o] = hn::MulAdd(x, weight[i - o * kStride], sum[o]);
        }
      }
    }
  }
  gemm::HWY_NAMESPACE::applyEpilogue<kColumns>(*row.epilogue, sum);
  float* out = row.out + column * row.out_stride + block.channel + within;
#pragma GCC unroll 16
  for (int o = 0; o < kColumns; ++o, out += row.out_stride) {
    if (kPartial) {
      hn::BlendedStore(sum[o], mask, d, out);
    } else {
      hn::StoreU(sum[o], d, out);
    }
  }
}

// All whole vectors of a tile.
template <int kTaps, int kStride, int kColumns, const Edges& kEdges>
HWY_NOINLINE void slideVectors(const Row& row, const DepthwiseBlock& block, int64_t column) {
  const int whole = static_cast<int>(block.valid / static_cast<int64_t>(hn::Lanes(D())));
  for (int j = 0; j < whole; ++j) {
    slide<kTaps, kStride, kColumns, false, kEdges>(row, block, column, j);
  }
}

// The last tile reaches back over columns that are done already: it computes the same again. kIsRow: a tile is the
// whole row, which has padding at both ends in most networks.
template <int kTaps, int kStride, int kColumns, bool kIsRow = false>
void slideColumns(const Row& row, const DepthwiseBlock& block) {
  constexpr int kMargin = kTaps / 2;
  const int last = static_cast<int>(block.valid / static_cast<int64_t>(hn::Lanes(D())));  // if it is cut
  for (int64_t next = 0; next < row.columns; next += kColumns) {
    const int64_t column = std::min(next, row.columns - kColumns);
    const int64_t first = column * kStride - row.padding;
    const int64_t left = std::max<int64_t>(0, -first);
    const int64_t right = std::max<int64_t>(0, first + (kColumns - 1) * kStride + kTaps - row.width);
    if (left == kMargin && right == kMargin - (kStride - 1)) {
      slideVectors<kTaps, kStride, kColumns, kBoth>(row, block, column);
    } else if (kIsRow) {
      slideVectors<kTaps, kStride, kColumns, kAny>(row, block, column);
    } else if (left == 0 && right == 0) {
      slideVectors<kTaps, kStride, kColumns, kInside>(row, block, column);
    } else if (left == kMargin && right == 0) {
      slideVectors<kTaps, kStride, kColumns, kLeft>(row, block, column);
    } else if (left == 0 && right == kMargin - (kStride - 1)) {
      slideVectors<kTaps, kStride, kColumns, kRight>(row, block, column);
    } else {
      slideVectors<kTaps, kStride, kColumns, kAny>(row, block, column);
    }
    if (last < block.vectors) {
      slide<kTaps, kStride, kColumns, true, kAny>(row, block, column, last);
    }
  }
}

// Sums, weights of a line and a pixel fit 16 registers. The sizes of image networks are multiples of seven or of eight:
// the tile that computes fewer columns twice is taken.
template <int kTaps, int kStride>
void slideRow(const Row& row, const DepthwiseBlock& block) {
  if (row.columns == 4) {
    slideColumns<kTaps, kStride, 4, true>(row, block);
  } else if (row.columns == 5) {
    slideColumns<kTaps, kStride, 5, true>(row, block);
  } else if (row.columns == 6) {
    slideColumns<kTaps, kStride, 6, true>(row, block);
  } else if ((row.columns + 7) / 8 * 8 < (row.columns + 6) / 7 * 7) {
    slideColumns<kTaps, kStride, 8>(row, block);
  } else {
    slideColumns<kTaps, kStride, 7>(row, block);
  }
}

// False for a row that is too short, and for unusual windows.
bool slideRow(const Row& row, const DepthwiseBlock& block) {
  if (HWY_TARGET == HWY_SCALAR || row.dilation != 1 || row.columns < 4) {
    return false;
  }
  if (row.stride == 1 && row.width_taps == 3) {
    slideRow<3, 1>(row, block);
  } else if (row.stride == 1 && row.width_taps == 5) {
    slideRow<5, 1>(row, block);
  } else if (row.stride == 1 && row.width_taps == 7) {
    slideRow<7, 1>(row, block);
  } else if (row.stride == 2 && row.width_taps == 3) {
    slideRow<3, 2>(row, block);
  } else if (row.stride == 2 && row.width_taps == 5) {
    slideRow<5, 2>(row, block);
  } else {
    return false;
  }
  return true;
}

void runRow(const Row& row, const DepthwiseBlock& block) {
  if (slideRow(row, block)) {
    return;
  }
  constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  constexpr int kNarrow = kManyRegisters ? 4 : 2;  // columns of a tile of 3 or 4 vectors
  if (block.vectors == 1) {
    columns<8, 1, true>(row, block);
  } else if (block.vectors == 2) {
    columns<4, 2, true>(row, block);
  } else if (block.vectors == 3) {
    columns<kNarrow, 3, true>(row, block);
  } else if (block.valid < 4 * lanes) {
    columns<kNarrow, 4, true>(row, block);
  } else {
    columns<kNarrow, 4, false>(row, block);
  }
}

template <int kVectors>
HWY_INLINE void sumVectors(const float* from, int64_t stride, int64_t rows, int64_t valid, float divisor, float* to) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const Mask last = hn::FirstN(d, static_cast<size_t>(valid - (kVectors - 1) * lanes));
  V total[kVectors];
#pragma GCC unroll 16
  for (int j = 0; j < kVectors; ++j) {
    total[j] = hn::Zero(d);
  }
  const int64_t most = summedAtOnce(rows);
  for (int64_t r = 0; r < rows;) {
    V piece[kVectors];
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      piece[j] = hn::Zero(d);
    }
    for (const int64_t end = std::min(rows, r + most); r < end; ++r, from += stride) {
#pragma GCC unroll 16
      for (int j = 0; j < kVectors; ++j) {
        piece[j] = hn::Add(piece[j], load<kVectors, kVectors == 1>(from, j, lanes, last));
      }
    }
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      total[j] = hn::Add(total[j], piece[j]);
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < kVectors; ++j) {
    const V value = hn::Div(total[j], hn::Set(d, divisor));
    if (kVectors == 1) {
      hn::BlendedStore(value, last, d, to);
    } else {
      hn::StoreU(value, d, to + j * lanes);
    }
  }
}

void sumRows(const float* from, int64_t stride, int64_t rows, int64_t channels, float divisor, float* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) {
    sumVectors<4>(from + c, stride, rows, 4 * lanes, divisor, to + c);
  }
  for (; c < channels; c += lanes) {
    sumVectors<1>(from + c, stride, rows, channels - c, divisor, to + c);
  }
}

DepthwiseFunctions functionsForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), runRow, sumRows};
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionsForTarget);

DepthwiseFunctions depthwiseFunctions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
