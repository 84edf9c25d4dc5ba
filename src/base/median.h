// Of times, where a few runs that were disturbed shall not count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace torchtrt {

// Of at least one value; of an even number, the greater of the two in the middle.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace torchtrt
