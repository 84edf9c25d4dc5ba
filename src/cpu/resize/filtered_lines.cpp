#include "cpu/resize/filtered_lines.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/resize/filtered_lines.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::resize::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums of kVectors vectors that lie next to each other, in the order of the taps.
template <size_t kLanes, int kVectors, typename T>
HWY_INLINE void sumTaps(const T* in, int64_t step, const WeightOf<T>* weights, int64_t taps, int shift, T* out) {
  const hn::CappedTag<WeightOf<T>, kLanes> d;
  const hn::Rebind<T, decltype(d)> stored;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr bool kWhole = std::is_same_v<T, uint8_t>;
  hn::Vec<decltype(d)> sums[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = hn::Set(d, kWhole && shift > 0 ? static_cast<WeightOf<T>>(int32_t{1} << (shift - 1)) : WeightOf<T>(0));
  }
  for (int64_t t = 0; t < taps; ++t, in += step) {
    const auto weight = hn::Set(d, weights[t]);
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const auto values = hn::LoadU(stored, in + v * lanes);
      if constexpr (kWhole) {
        sums[v] = hn::Add(sums[v], hn::Mul(hn::PromoteTo(d, values), weight));
      } else {
        sums[v] = hn::MulAdd(values, weight, sums[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (kWhole) {
      hn::StoreU(hn::DemoteTo(stored, hn::ShiftRightSame(sums[v], shift)), stored, out + v * lanes);
    } else {
      hn::StoreU(sums[v], stored, out + v * lanes);
    }
  }
}

template <typename T>
void across(const Filter<WeightOf<T>>& filter, int64_t row, const T* lines, int64_t length, T* out) {
  constexpr int kVectors = 4;
  const auto at = static_cast<size_t>(row);
  const T* in = lines + filter.first[at] * length;
  const WeightOf<T>* weights = filter.weights.data() + row * filter.most;
  const int64_t taps = filter.count[at];
  constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(WeightOf<T>);
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::CappedTag<WeightOf<T>, kLanes>()));
  int64_t i = 0;
  for (; i + kVectors * lanes <= length; i += kVectors * lanes) {
    sumTaps<kLanes, kVectors>(in + i, length, weights, taps, filter.shift, out + i);
  }
  for (; i + lanes <= length; i += lanes) {
    sumTaps<kLanes, 1>(in + i, length, weights, taps, filter.shift, out + i);
  }
  for (; i < length; ++i) {
    sumTaps<1, 1>(in + i, length, weights, taps, filter.shift, out + i);
  }
}

template <typename T>
void along(const Filter<WeightOf<T>>& filter, const T* in, T* out) {
  constexpr size_t kLanes = static_cast<size_t>(kLinesAbreast);
  constexpr size_t kInVector = hn::MaxLanes(hn::CappedTag<WeightOf<T>, kLanes>());
  for (size_t i = 0; i < filter.first.size(); ++i) {
    sumTaps<kLanes, kLanes / kInVector>(in + filter.first[i] * kLinesAbreast, kLinesAbreast,
                                        filter.weights.data() + static_cast<int64_t>(i) * filter.most, filter.count[i],
                                        filter.shift, out + static_cast<int64_t>(i) * kLinesAbreast);
  }
}

FilteredLines<float> floatLines() {
  return {across<float>, along<float>};
}
FilteredLines<double> doubleLines() {
  return {across<double>, along<double>};
}
FilteredLines<uint8_t> byteLines() {
  return {across<uint8_t>, along<uint8_t>};
}

}  // namespace
}  // namespace torchtrt::kernels::resize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::resize {

HWY_EXPORT(floatLines);
HWY_EXPORT(doubleLines);
HWY_EXPORT(byteLines);

template <typename T>
FilteredLines<T> filteredLines() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(floatLines)();
  } else if constexpr (std::is_same_v<T, double>) {
    return HWY_DYNAMIC_DISPATCH(doubleLines)();
  } else {
    return HWY_DYNAMIC_DISPATCH(byteLines)();
  }
}

template FilteredLines<float> filteredLines<float>();
template FilteredLines<double> filteredLines<double>();
template FilteredLines<uint8_t> filteredLines<uint8_t>();

}  // namespace torchtrt::kernels::resize
#endif  // HWY_ONCE
