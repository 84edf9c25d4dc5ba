#include "kernels/resize/lines.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/lines.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::resize::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Weighted sums in the order of the taps.
template <int kTaps, typename Load>
HWY_INLINE V combine(const Load& load, const V* weights) {
  V sum = load(0);
  if constexpr (kTaps > 1) {
    sum = hn::Mul(sum, weights[0]);
#pragma GCC unroll 4
    for (int t = 1; t < kTaps; ++t) {
      sum = hn::MulAdd(load(t), weights[t], sum);
    }
  }
  return sum;
}

// A column at a time: gathering instructions take longer than as many loads.
template <int kTaps>
HWY_INLINE void alongRowFrom(const Columns& columns, int64_t first, const float* in, float* out) {
  const hn::CappedTag<float, 1> d;
  using V1 = hn::Vec<decltype(d)>;
  for (int64_t i = first; i < columns.count; ++i) {
    const int32_t* offsets = columns.offsets + i;
    V1 sum = hn::LoadU(d, in + offsets[0]);
    if constexpr (kTaps > 1) {
      const float* weights = columns.weights + i;
      sum = hn::Mul(sum, hn::LoadU(d, weights));
#pragma GCC unroll 4
      for (int64_t t = 1; t < kTaps; ++t) {
        sum = hn::MulAdd(hn::LoadU(d, in + offsets[t * columns.step]), hn::LoadU(d, weights + t * columns.step), sum);
      }
    }
    hn::StoreU(sum, d, out + i);
  }
}

template <int kTaps>
void alongRow(const Columns& columns, const float* in, float* out) {
  alongRowFrom<kTaps>(columns, 0, in, out);
}

// Two neighbours are one load.
void alongRowOfPairs(const Columns& columns, const float* in, float* out) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 2> pair;
  const hn::CappedTag<float, 4> d;
  const auto load = [&](int64_t i) HWY_ATTR { return hn::LoadU(pair, in + columns.offsets[i]); };
  for (; i + 4 <= columns.pairs; i += 4) {
    const auto lower = hn::Combine(d, load(i + 1), load(i));
    const auto upper = hn::Combine(d, load(i + 3), load(i + 2));
    const auto first = hn::Mul(hn::ConcatEven(d, upper, lower), hn::LoadU(d, columns.weights + i));
    const auto second = hn::LoadU(d, columns.weights + columns.step + i);
    hn::StoreU(hn::MulAdd(hn::ConcatOdd(d, upper, lower), second, first), d, out + i);
  }
#endif
  alongRowFrom<2>(columns, i, in, out);
}

// Vectors of channels.
template <int kTaps>
void alongPixels(const Columns& columns, const float* in, float* out) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = columns.channels / lanes * lanes;
  const auto rest = hn::FirstN(d, static_cast<size_t>(columns.channels - whole));
  for (int64_t i = 0; i < columns.count; ++i, out += columns.channels) {
    const float* from[kTaps];
    V weights[kTaps];
#pragma GCC unroll 4
    for (int t = 0; t < kTaps; ++t) {
      from[t] = in + columns.offsets[t * columns.step + i];
      if constexpr (kTaps > 1) {
        weights[t] = hn::Set(d, columns.weights[t * columns.step + i]);
      }
    }
    for (int64_t c = 0; c < whole; c += lanes) {
      hn::StoreU(combine<kTaps>([&](int t) HWY_ATTR { return hn::LoadU(d, from[t] + c); }, weights), d, out + c);
    }
    if (whole < columns.channels) {
      const V sum = combine<kTaps>([&](int t) HWY_ATTR { return hn::MaskedLoad(rest, d, from[t] + whole); }, weights);
      hn::BlendedStore(sum, rest, d, out + whole);
    }
  }
}

template <int kTaps>
void alongHeight(const Rows& rows, int64_t floats, float* out) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V weights[kTaps];
#pragma GCC unroll 4
  for (int t = 0; t < kTaps; ++t) {
    weights[t] = hn::Set(d, rows.weights[static_cast<size_t>(t)]);
  }
  int64_t i = 0;
  for (; i + lanes <= floats; i += lanes) {
    const auto load = [&](int t) HWY_ATTR { return hn::LoadU(d, rows.lines[static_cast<size_t>(t)] + i); };
    hn::StoreU(combine<kTaps>(load, weights), d, out + i);
  }
  if (i < floats) {
    const auto rest = hn::FirstN(d, static_cast<size_t>(floats - i));
    const auto load = [&](int t) HWY_ATTR { return hn::MaskedLoad(rest, d, rows.lines[static_cast<size_t>(t)] + i); };
    hn::BlendedStore(combine<kTaps>(load, weights), rest, d, out + i);
  }
}

LineFunctions functionsForTarget(int taps, bool channels_last) {
  if (taps == 1) {
    return {channels_last ? alongPixels<1> : alongRow<1>, nullptr};
  }
  if (taps == 2) {
    return {channels_last ? alongPixels<2> : alongRowOfPairs, alongHeight<2>};
  }
  return {channels_last ? alongPixels<4> : alongRow<4>, alongHeight<4>};
}

}  // namespace
}  // namespace torchtrt::kernels::resize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::resize {

HWY_EXPORT(functionsForTarget);

LineFunctions lineFunctions(int taps, bool channels_last) {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)(taps, channels_last);
}

}  // namespace torchtrt::kernels::resize
#endif  // HWY_ONCE
