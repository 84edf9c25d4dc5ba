#include "cpu/resize/lines.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/resize/lines.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::resize::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
template <typename T>
using V = hn::Vec<hn::ScalableTag<T>>;

// Weighted sums in the order of the taps.
template <int kTaps, typename Load, typename Vector>
HWY_INLINE Vector combine(const Load& load, const Vector* weights) {
  Vector sum = load(0);
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
template <int kTaps, typename T>
HWY_INLINE void alongRowFrom(const Columns<T>& columns, int64_t first, const T* in, T* out) {
  const hn::CappedTag<T, 1> d;
  using V1 = hn::Vec<decltype(d)>;
  for (int64_t i = first; i < columns.count; ++i) {
    const int32_t* offsets = columns.offsets + i;
    V1 sum = hn::LoadU(d, in + offsets[0]);
    if constexpr (kTaps > 1) {
      const T* weights = columns.weights + i;
      sum = hn::Mul(sum, hn::LoadU(d, weights));
#pragma GCC unroll 4
      for (int64_t t = 1; t < kTaps; ++t) {
        sum = hn::MulAdd(hn::LoadU(d, in + offsets[t * columns.step]), hn::LoadU(d, weights + t * columns.step), sum);
      }
    }
    hn::StoreU(sum, d, out + i);
  }
}

template <int kTaps, typename T>
void alongRow(const Columns<T>& columns, const T* in, T* out) {
  alongRowFrom<kTaps>(columns, 0, in, out);
}

// Two neighbours are one load.
template <typename T>
void alongRowOfPairs(const Columns<T>& columns, const T* in, T* out) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<T, 2> pair;
  const hn::CappedTag<T, 4> d;
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
template <int kTaps, typename T>
void alongPixels(const Columns<T>& columns, const T* in, T* out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = columns.channels / lanes * lanes;
  const auto rest = hn::FirstN(d, static_cast<size_t>(columns.channels - whole));
  for (int64_t i = 0; i < columns.count; ++i, out += columns.channels) {
    const T* from[kTaps];
    V<T> weights[kTaps];
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
      const V<T> sum =
          combine<kTaps>([&](int t) HWY_ATTR { return hn::MaskedLoad(rest, d, from[t] + whole); }, weights);
      hn::BlendedStore(sum, rest, d, out + whole);
    }
  }
}

template <int kTaps, typename T>
void alongHeight(const Rows<T>& rows, int64_t elements, T* out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V<T> weights[kTaps];
#pragma GCC unroll 4
  for (int t = 0; t < kTaps; ++t) {
    weights[t] = hn::Set(d, rows.weights[static_cast<size_t>(t)]);
  }
  int64_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    const auto load = [&](int t) HWY_ATTR { return hn::LoadU(d, rows.lines[static_cast<size_t>(t)] + i); };
    hn::StoreU(combine<kTaps>(load, weights), d, out + i);
  }
  if (i < elements) {
    const auto rest = hn::FirstN(d, static_cast<size_t>(elements - i));
    const auto load = [&](int t) HWY_ATTR { return hn::MaskedLoad(rest, d, rows.lines[static_cast<size_t>(t)] + i); };
    hn::BlendedStore(combine<kTaps>(load, weights), rest, d, out + i);
  }
}

template <typename T>
LineFunctions<T> functionsOf(int taps, bool channels_last) {
  if (taps == 1) {
    return {channels_last ? alongPixels<1, T> : alongRow<1, T>, nullptr};
  }
  if (taps == 2) {
    return {channels_last ? alongPixels<2, T> : alongRowOfPairs<T>, alongHeight<2, T>};
  }
  return {channels_last ? alongPixels<4, T> : alongRow<4, T>, alongHeight<4, T>};
}

LineFunctions<float> functionsOfFloats(int taps, bool channels_last) {
  return functionsOf<float>(taps, channels_last);
}
LineFunctions<double> functionsOfDoubles(int taps, bool channels_last) {
  return functionsOf<double>(taps, channels_last);
}

}  // namespace
}  // namespace torchtrt::kernels::resize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::resize {

HWY_EXPORT(functionsOfFloats);
HWY_EXPORT(functionsOfDoubles);

template <>
LineFunctions<float> lineFunctions<float>(int taps, bool channels_last) {
  return HWY_DYNAMIC_DISPATCH(functionsOfFloats)(taps, channels_last);
}
template <>
LineFunctions<double> lineFunctions<double>(int taps, bool channels_last) {
  return HWY_DYNAMIC_DISPATCH(functionsOfDoubles)(taps, channels_last);
}

}  // namespace torchtrt::kernels::resize
#endif  // HWY_ONCE
