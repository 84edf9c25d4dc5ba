// The median of times: a few disturbed runs shall not count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace torchtrt {

// Returns the median of at least one value; for an even number, the greater of the two in the middle.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace torchtrt
