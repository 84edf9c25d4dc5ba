// The type in which sums of products are taken: at least as exact as the compute type, and wrapping for integers.
#pragma once

#include <cstdint>
#include <type_traits>

namespace torchtrt::kernels {

template <typename T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

}  // namespace torchtrt::kernels
