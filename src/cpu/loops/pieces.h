// The length of the parts of sums in float32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace torchtrt::kernels {

// Returns the length of a part of a sum of `count` values. Parts are summed separately, so that rounding grows with the
// root of the count.
inline int64_t summedAtOnce(int64_t count) {
  constexpr int64_t kFewest = 256;
  return count <= kFewest ? count : std::max(kFewest, static_cast<int64_t>(std::sqrt(static_cast<double>(count))));
}

}  // namespace torchtrt::kernels
