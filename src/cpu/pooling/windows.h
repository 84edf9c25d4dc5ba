// The fast pooling kernels share this: a pooling layer's attributes, and the places of its windows along each axis. The
// reference kernel does not use it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "cpu/convolution/geometry.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::pooling {

struct Config {
  bool is_max = true;
  bool is_adaptive = false;
  std::vector<int64_t> window, stride, pre_padding, post_padding, dilation;  // empty when adaptive
  bool count_include_pad = true;
  int64_t divisor = 0;  // 0: the size of the window
};

Config readConfig(const Attributes& attributes);
Config readAdaptiveConfig(const Attributes& attributes);

// Refuses other dtypes, indices, and dimensions other than batch, channels and `spatial` pooled ones.
std::optional<Refusal> refuse(const Problem& problem, size_t spatial, std::initializer_list<DType> dtypes);

// The windows of one output position along an axis: `count` positions from `first`, `step` apart; `padded` is its
// length with padding, for averages, which have no dilation.
struct Span {
  int64_t first = 0;
  int64_t count = 1;
  int64_t step = 1;
  int64_t padded = 1;
};

// The divisor of an average.
enum class Divisor : uint8_t { kElements, kPadded, kFixed };

struct Windows {
  Windows(const Config& config, const convolution::Image& in, const convolution::Image& out, size_t rank);

  Divisor divisor = Divisor::kElements;
  std::array<std::vector<Span>, 3> spans;    // depth, height, width: one per output position
  convolution::Spatial largest = {1, 1, 1};  // the greatest count along each
};

}  // namespace torchtrt::kernels::pooling
