// Plans a discrete Fourier transform of n numbers: stages of a few numbers each, with the factors between them. They
// come in Stockham's order, which needs no bit reversal. If n has a large prime factor, the transform is a convolution
// with a chirp whose length is a power of two (Bluestein).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/fourier/chirp.h"

namespace torchtrt::kernels::fourier {

// Takes `radix` numbers that lie count * stride apart.
struct Stage {
  int64_t radix = 0;
  int64_t count = 0;   // of groups with factors of their own
  int64_t stride = 0;  // numbers in a row that share them
  size_t factors = 0;  // where they begin: radix - 1 for each group
  size_t roots = 0;    // where the radix roots of one begin, for odd radixes
};

// (re, im) pairs lie one behind the other.
template <typename T>
struct Plan {
  explicit Plan(int64_t length);

  // Numbers that each of the two buffers has to hold.
  int64_t bufferLength() const {
    return chirp_transform ? chirp_transform->length : length;
  }

  int64_t length;
  std::vector<Stage> stages;
  std::vector<T> factors, roots;
  std::unique_ptr<Plan> chirp_transform;  // else stages
  std::vector<T> chirp, chirp_spectrum;
};

}  // namespace torchtrt::kernels::fourier
