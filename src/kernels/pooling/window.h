// One pooling window over a channels-last image: what the vector code of highway.cpp works on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace torchtrt::kernels::pooling {

struct Window {
  std::array<int64_t, 3> count;  // positions along depth, height, width
  std::array<int64_t, 3> step;   // in elements
  float divisor;                 // of an average
};

// in: the window's first position; out: the output pixel; both at the first of `channels` channels.
using WindowFunction = void (*)(const Window& window, const float* in, float* out, int64_t channels);

}  // namespace torchtrt::kernels::pooling
