#include "cpu/convolution/direct/few_outputs_row.h"

#include "base/align.h"
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/direct/few_outputs_row.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

#if HWY_TARGET == HWY_SCALAR

FewOutputsFunctions functionsForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), {}};
}

#else

constexpr int kLanes = HWY_MAX_BYTES / sizeof(float);

// Pixels of a tile: together with the outputs at least eight sums, as many as hide the latency of their additions, and
// a multiple of four. With sixteen registers there are at most twelve.
constexpr int pixelsFor(int outputs) {
  return outputs == 1 ? 8 : outputs == 4 && HWY_TARGET > HWY_AVX3 ? 2 : 4;
}

// The sum over each block's lanes of 128 bits: [sum of a, of b, of c, of d] in every block.
HWY_INLINE V sumInBlocks(V a, V b, V c, V d) {
  const D tag;
  const hn::Repartition<double, D> pairs;
  const V ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const V cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  const auto ab_pairs = hn::BitCast(pairs, ab);
  const auto cd_pairs = hn::BitCast(pairs, cd);
  return hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, ab_pairs, cd_pairs)),
                 hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_pairs, cd_pairs)));
}

template <typename Tag>
HWY_INLINE hn::Vec<hn::CappedTag<float, 4>> sumOfBlocks(Tag tag, hn::Vec<Tag> v) {
  if constexpr (hn::MaxLanes(Tag()) == 4) {
    return v;
  } else {
    const hn::Half<Tag> half;
    return sumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Adds the products of a vector of channels, or of the `rest` that is left of one.
template <int kOutputs, int kPixels, bool kPartial>
HWY_INLINE void addVector(const float* const (&from)[kPixels], int64_t channel, size_t rest, const float* weights,
                          V (&sums)[kPixels * kOutputs]) {
  const D d;
  const auto mask = hn::FirstN(d, rest);
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    const float* place = from[p] + channel;
    const V pixel = kPartial ? hn::MaskedLoad(mask, d, place) : hn::LoadU(d, place);
#pragma GCC unroll 4
    for (int n = 0; n < kOutputs; ++n) {
      V& sum = sums[p * kOutputs + n];
      sum = hn::MulAdd(pixel, hn::Load(d, weights + n * kLanes), sum);
    }
  }
}

// Adds the products of what lies in one piece: a tap's channels from from[p] on, or several taps'. Returns the place
// behind their weights.
template <int kOutputs, int kPixels>
HWY_INLINE const float* addRun(const float* const (&from)[kPixels], int64_t channels, const float* weights,
                               V (&sums)[kPixels * kOutputs]) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes, weights += kOutputs * kLanes) {
    addVector<kOutputs, kPixels, false>(from, c, 0, weights, sums);
  }
  if (c < channels) {
    addVector<kOutputs, kPixels, true>(from, c, static_cast<size_t>(channels - c), weights, sums);
    weights += kOutputs * kLanes;
  }
  return weights;
}

// Output columns [column, column + kPixels); those behind the last one repeat it and are not stored.
template <int kOutputs, int kPixels, int kVectors>
HWY_INLINE void tile(const Row& row, int64_t channels, const float* weights, const V (&bias)[kVectors],
                     int64_t column) {
  const D d;
  const int64_t tap_floats = roundUp(channels, kLanes) * kOutputs;
  const auto count = static_cast<int>(std::min<int64_t>(kPixels, row.columns - column));
  const int64_t start = column * row.stride - row.padding;
  const int64_t end = start + (kPixels - 1) * row.stride + (row.width_taps - 1) * row.dilation;
  const bool inside = start >= 0 && end < row.width && count == kPixels;
  // A window's line lies in one piece then, and so do its weights.
  const bool in_one = inside && row.dilation == 1 && row.pixel_stride == channels && channels % kLanes == 0;
  const int64_t steps = in_one ? 1 : row.width_taps;
  const int64_t run = in_one ? row.width_taps * channels : channels;
  V sums[kPixels * kOutputs];
#pragma GCC unroll 16
  for (V& sum : sums) {
    sum = hn::Zero(d);
  }
  for (int64_t t = 0; t < row.line_taps; ++t) {
    if (row.lines[t] == nullptr) {
      weights += row.width_taps * tap_floats;
      continue;
    }
    const float* from[kPixels];
    for (int p = 0; p < kPixels && inside; ++p) {
      from[p] = row.lines[t] + (start + p * row.stride) * row.pixel_stride;
    }
    for (int64_t w = 0; w < steps; ++w) {
      for (int p = 0; p < kPixels && !inside; ++p) {
        const int64_t x = start + std::min(p, count - 1) * row.stride + w * row.dilation;
        from[p] = x >= 0 && x < row.width ? row.lines[t] + x * row.pixel_stride : row.zeros;
      }
      weights = addRun<kOutputs>(from, run, weights, sums);
      for (int p = 0; p < kPixels && inside; ++p) {
        from[p] += row.dilation * row.pixel_stride;
      }
    }
  }
  HWY_ALIGN float results[kVectors * kLanes] = {};
  for (int i = 0; i < kPixels * kOutputs; i += 4) {
    const hn::CappedTag<float, 4> four;
    hn::Store(sumOfBlocks(d, sumInBlocks(sums[i], sums[i + 1], sums[i + 2], sums[i + 3])), four, results + i);
  }
  V finished[kVectors];
  for (int i = 0; i < kVectors; ++i) {
    finished[i] = hn::Add(hn::Load(d, results + i * kLanes), bias[i]);
  }
  gemm::HWY_NAMESPACE::applyEpilogue<kVectors>(*row.epilogue, finished);
  for (int i = 0; i < kVectors; ++i) {
    hn::Store(finished[i], d, results + i * kLanes);
  }
  float* out = row.out + column * row.out_stride;
  if (row.out_stride == kOutputs) {
    std::copy_n(results, count * kOutputs, out);
    return;
  }
  for (int p = 0; p < count; ++p, out += row.out_stride) {
    std::copy_n(results + p * kOutputs, kOutputs, out);
  }
}

template <int kOutputs>
void runRow(const Row& row, int64_t channels, const float* weights) {
  constexpr int kPixels = pixelsFor(kOutputs);
  constexpr int kVectors = (kPixels * kOutputs + kLanes - 1) / kLanes;
  HWY_ALIGN float repeated[kVectors * kLanes] = {};
  for (int i = 0; row.bias != nullptr && i < kPixels * kOutputs; ++i) {
    repeated[i] = row.bias[i % kOutputs];
  }
  V bias[kVectors];
  for (int i = 0; i < kVectors; ++i) {
    bias[i] = hn::Load(D(), repeated + i * kLanes);
  }
  for (int64_t column = 0; column < row.columns; column += kPixels) {
    tile<kOutputs, kPixels>(row, channels, weights, bias, column);
  }
}

FewOutputsFunctions functionsForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), {runRow<1>, runRow<2>, runRow<3>, runRow<4>}};
}

#endif

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionsForTarget);

FewOutputsFunctions fewOutputsFunctions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
