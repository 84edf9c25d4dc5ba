#include "kernels/resize/taps.h"

#include <algorithm>
#include <cmath>

namespace torchtrt::kernels {

template <typename T>
T inputStep(const ResizeAxis& axis) {
  if (axis.align_corners) {
    return axis.out > 1 ? static_cast<T>(axis.in - 1) / static_cast<T>(axis.out - 1) : T(0);
  }
  return axis.scale > 0 ? static_cast<T>(1.0 / axis.scale) : static_cast<T>(axis.in) / static_cast<T>(axis.out);
}

namespace {

// The place in front of a position, which is none (NaN) or anywhere where a scale is near to 0.
template <typename T>
int64_t indexOf(T position, int64_t in) {
  return position < static_cast<T>(in - 1) ? std::min(static_cast<int64_t>(std::floor(position)), in - 1) : in - 1;
}

// PyTorch takes nearest in float even for float64, but not nearest-exact.
template <typename T>
int64_t nearestIndex(const ResizeAxis& axis, int64_t i) {
  if (axis.mode == ResizeMode::kNearest && axis.copies_equal && axis.out == 2 * axis.in) {
    return i / 2;
  }
  return axis.mode == ResizeMode::kNearest ? indexOf(static_cast<float>(i) * inputStep<float>(axis), axis.in)
                                           : indexOf((static_cast<T>(i) + T(0.5)) * inputStep<T>(axis), axis.in);
}

template <typename T>
std::array<double, 4> cubicWeights(T x) {
  constexpr T kA = T(-0.75);
  const auto near = [](T d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](T d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {static_cast<double>(far(x + 1)), static_cast<double>(near(x)), static_cast<double>(near(1 - x)),
          static_cast<double>(far(2 - x))};
}

template <typename T>
Taps interpolatingTaps(const ResizeAxis& axis, T step, int64_t i) {
  T position = axis.align_corners ? step * static_cast<T>(i) : step * (static_cast<T>(i) + T(0.5)) - T(0.5);
  if (axis.mode == ResizeMode::kLinear) {
    position = std::max(position, T(0));
  }
  const int64_t index = indexOf(position, axis.in);
  const T fraction = std::clamp(position - static_cast<T>(index), T(0), T(1));
  Taps taps;
  if (axis.mode == ResizeMode::kLinear) {
    taps.index = {index, std::min(index + 1, axis.in - 1), 0, 0};
    taps.weight = {static_cast<double>(T(1) - fraction), static_cast<double>(fraction), 0, 0};
  } else {
    for (int64_t t = 0; t < 4; ++t) {
      taps.index[static_cast<size_t>(t)] = std::clamp<int64_t>(index - 1 + t, 0, axis.in - 1);
    }
    taps.weight = cubicWeights(fraction);
  }
  return taps;
}

}  // namespace

template <typename T>
std::vector<Taps> resizeTaps(const ResizeAxis& axis) {
  std::vector<Taps> result(static_cast<size_t>(axis.out));
  const T step = inputStep<T>(axis);
  const bool interpolates = axis.mode == ResizeMode::kLinear || axis.mode == ResizeMode::kCubic;
  for (int64_t i = 0; i < axis.out; ++i) {
    Taps& taps = result[static_cast<size_t>(i)];
    if (axis.copies_equal && axis.in == axis.out) {
      taps.index.fill(i);  // also of the taps that weigh nothing: 0 times an infinity elsewhere is NaN
    } else if (interpolates) {
      taps = interpolatingTaps<T>(axis, step, i);
    } else {
      taps.index[0] = nearestIndex<T>(axis, i);
    }
  }
  return result;
}

int byteShift(double greatest_weight) {
  int shift = 0;
  while (shift < 22 && static_cast<int>(0.5 + greatest_weight * (1 << (shift + 1))) < (1 << 15)) {
    ++shift;
  }
  return shift;
}

ByteTaps byteTaps(const ResizeAxis& axis) {
  std::vector<Taps> taps = resizeTaps<double>(axis);
  double greatest = 0;
  for (Taps& entry : taps) {
    for (size_t t = 1; t < 4; ++t) {  // positions clamped to one edge share one weight
      for (size_t earlier = 0; earlier < t; ++earlier) {
        if (entry.index[earlier] == entry.index[t] && entry.weight[t] != 0) {
          entry.weight[earlier] += entry.weight[t];
          entry.weight[t] = 0;
        }
      }
    }
    greatest = std::max(greatest, *std::max_element(entry.weight.begin(), entry.weight.end()));
  }
  ByteTaps result;
  result.shift = byteShift(greatest);
  for (const Taps& entry : taps) {
    ByteTaps::Entry& bytes = result.entries.emplace_back();
    bytes.index = entry.index;
    for (size_t t = 0; t < 4; ++t) {
      bytes.weight[t] = static_cast<int32_t>(std::round(entry.weight[t] * (1 << result.shift)));
    }
  }
  return result;
}

template float inputStep<float>(const ResizeAxis& axis);
template double inputStep<double>(const ResizeAxis& axis);
template std::vector<Taps> resizeTaps<float>(const ResizeAxis& axis);
template std::vector<Taps> resizeTaps<double>(const ResizeAxis& axis);

}  // namespace torchtrt::kernels
