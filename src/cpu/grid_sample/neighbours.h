// Tells where grid_sample reads: the attributes, and the elements around a place along one axis with their weights.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "torchtrt/types.h"

namespace torchtrt::kernels::grid_sample {

enum class Mode : uint8_t { kNearest, kLinear, kCubic };
enum class Edge : uint8_t { kZeros, kBorder, kReflection };

struct GridConfig {
  Mode mode = Mode::kLinear;
  Edge edge = Edge::kZeros;
  bool align_corners = false;
};

// PyTorch's rules for one axis, in its precision, so that roundings at the edges of cells agree.
template <typename T>
struct Axis {
  int64_t size;
  GridConfig config;

  T unnormalized(T place) const {
    return config.align_corners ? (place + 1) / 2 * static_cast<T>(size - 1)
                                : ((place + 1) * static_cast<T>(size) - 1) / 2;
  }
  T clipped(T position) const {
    return std::min(static_cast<T>(size - 1), std::max(position, T(0)));
  }
  // Back and forth between the middles of the outer elements, or, without aligned corners, their ends.
  T reflected(T position) const {
    const T low = config.align_corners ? T(0) : T(-0.5);
    const T span = config.align_corners ? static_cast<T>(size - 1) : static_cast<T>(size);
    if (span == 0) {
      return 0;
    }
    const T distance = std::abs(position - low);
    const T rest = std::fmod(distance, span);
    return static_cast<int64_t>(std::floor(distance / span)) % 2 == 0 ? rest + low : span - rest + low;
  }
  T padded(T position) const {
    if (config.edge == Edge::kZeros) {
      // Far outside is outside, also where an integer could not say so.
      return std::abs(position) < T(1 << 30) ? position : T(-100);
    }
    return clipped(config.edge == Edge::kReflection ? reflected(position) : position);
  }
  bool holds(int64_t index) const {
    return index >= 0 && index < size;
  }
};

// Up to four neighbours along one axis; those outside have weight 0 and index 0.
template <typename T>
struct Neighbours {
  std::array<int64_t, 4> index{};
  std::array<T, 4> weight{};
};

template <typename T>
std::array<T, 4> cubicWeights(T x) {
  constexpr T kA = T(-0.75);
  const auto near = [](T d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](T d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {far(x + 1), near(x), near(1 - x), far(2 - x)};
}

template <typename T>
Neighbours<T> neighboursOf(const Axis<T>& axis, T place) {
  Neighbours<T> result;
  const auto set = [&](size_t t, int64_t index, T weight) {
    result.index[t] = axis.holds(index) ? index : 0;
    result.weight[t] = axis.holds(index) ? weight : T(0);
  };
  const T position = axis.unnormalized(place);
  if (axis.config.mode == Mode::kCubic) {
    const T base = std::floor(position);
    const std::array<T, 4> weights = cubicWeights(position - base);
    for (size_t t = 0; t < 4; ++t) {
      set(t, static_cast<int64_t>(axis.padded(base - 1 + static_cast<T>(t))), weights[t]);
    }
    return result;
  }
  const T padded = axis.padded(position);
  if (axis.config.mode == Mode::kNearest) {
    set(0, static_cast<int64_t>(std::nearbyint(padded)), T(1));
    return result;
  }
  const T base = std::floor(padded);
  set(0, static_cast<int64_t>(base), base + 1 - padded);
  set(1, static_cast<int64_t>(base) + 1, padded - base);
  return result;
}

template <typename E, size_t count>
E parse(const char* const (&names)[count], const std::string& text) {
  const auto* found = std::find(std::begin(names), std::end(names), text);
  TORCHTRT_CHECK(found != std::end(names), "grid_sample has no \"" << text << "\"");
  return static_cast<E>(found - std::begin(names));
}

inline GridConfig readGridConfig(const Attributes& attributes) {
  return {parse<Mode>({"nearest", "linear", "cubic"}, attributes.getString("mode")),
          parse<Edge>({"zeros", "border", "reflection"}, attributes.getString("padding")),
          attributes.getBool("align_corners", false)};
}

}  // namespace torchtrt::kernels::grid_sample
