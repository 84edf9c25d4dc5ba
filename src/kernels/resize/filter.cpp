#include "kernels/resize/filter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace torchtrt::kernels {
namespace {

template <typename T>
T linearAt(T x) {
  return std::max(T(0), 1 - std::abs(x));
}

template <typename T>
T cubicAt(T x) {
  constexpr T kA = T(-0.5);
  x = std::abs(x);
  if (x < 1) {
    return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  }
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

}  // namespace

template <typename T>
FilterRule<T> filterRule(const ResizeAxis& axis) {
  if (axis.copies_equal && axis.in == axis.out) {
    return {true, 1, T(1), T(0), T(1)};
  }
  const T step = inputStep<T>(axis);
  const T support = T(axis.mode == ResizeMode::kCubic ? 2 : 1) * std::max(step, T(1));
  return {false, std::min<int64_t>(axis.in, static_cast<int64_t>(std::ceil(support)) * 2 + 1), step, support,
          step >= 1 ? 1 / step : T(1)};
}

template <typename T>
Filter<T> antialiasFilter(const ResizeAxis& axis) {
  const FilterRule<T> rule = filterRule<T>(axis);
  if (rule.copies) {
    Filter<T> copy;
    copy.most = 1;
    copy.first.resize(static_cast<size_t>(axis.out));
    std::iota(copy.first.begin(), copy.first.end(), 0);
    copy.count.assign(copy.first.size(), 1);
    copy.weights.assign(copy.first.size(), T(1));
    return copy;
  }
  const bool cubic = axis.mode == ResizeMode::kCubic;
  const auto last_element = static_cast<T>(axis.in);
  Filter<T> filter;
  filter.most = rule.most;
  filter.weights.resize(static_cast<size_t>(axis.out * filter.most));
  T* weights = filter.weights.data();
  for (int64_t i = 0; i < axis.out; ++i, weights += filter.most) {
    const T center = rule.step * (static_cast<T>(i) + T(0.5));
    const auto element = [&](T place) { return static_cast<int64_t>(std::clamp(place + T(0.5), T(0), last_element)); };
    const int64_t first = element(center - rule.support);
    const int64_t count = std::clamp<int64_t>(element(center + rule.support) - first, 0, filter.most);
    T total = 0;
    for (int64_t t = 0; t < count; ++t) {
      const T place = (static_cast<T>(first + t) - center + T(0.5)) * rule.inverse;
      weights[t] = cubic ? cubicAt(place) : linearAt(place);
      total += weights[t];
    }
    for (int64_t t = 0; t < count && total != 0; ++t) {
      weights[t] /= total;
    }
    filter.first.push_back(first);
    filter.count.push_back(count);
  }
  return filter;
}

Filter<int32_t> wholeFilter(const Filter<double>& filter) {
  Filter<int32_t> whole = {filter.most, filter.first, filter.count, {}, 0};
  double greatest = 0;
  for (const double weight : filter.weights) {
    greatest = std::max(greatest, weight);
  }
  whole.shift = byteShift(greatest);
  for (const double weight : filter.weights) {
    whole.weights.push_back(static_cast<int32_t>(std::round(weight * (1 << whole.shift))));
  }
  return whole;
}

template FilterRule<float> filterRule<float>(const ResizeAxis& axis);
template FilterRule<double> filterRule<double>(const ResizeAxis& axis);
template Filter<float> antialiasFilter<float>(const ResizeAxis& axis);
template Filter<double> antialiasFilter<double>(const ResizeAxis& axis);

}  // namespace torchtrt::kernels
