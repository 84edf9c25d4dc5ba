// Finds the one of many steps that breaks something.
#pragma once

#include <cstddef>

namespace torchtrt::compiler {

// A count of first steps with which it fails, though it does not with one less: 1 to `all`, with which it is known to
// fail. The least there is, where it fails with all that are more.
template <typename Fails>
size_t leastFailing(size_t all, Fails fails) {
  size_t passing = 0;
  size_t failing = all;
  while (failing - passing > 1) {
    const size_t middle = passing + (failing - passing) / 2;
    (fails(middle) ? failing : passing) = middle;
  }
  return failing;
}

}  // namespace torchtrt::compiler
