// A tensor as rows: the axes that number them, and those inside of one.
#pragma once

#include <algorithm>
#include <utility>

#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// The threads of a block for rows of `length` values: a power of two.
inline unsigned threadsOfRow(int64_t length) {
  unsigned threads = 32;
  while (threads < 256 && static_cast<int64_t>(threads) < length) {
    threads *= 2;
  }
  return threads;
}

// Rows that are few and long are cut into parts, so that they take as many blocks as the GPU runs at once.
struct RowParts {
  int64_t count = 1, length = 0;  // of each row, and elements of each
};

inline RowParts partsOf(const CudaDevice& device, int64_t rows, int64_t length) {
  constexpr int64_t kLeast = 4096;  // elements that are worth a block
  constexpr int64_t kMost = 256;
  const int64_t wanted = 4 * int64_t{device.processors()} / std::max<int64_t>(rows, 1);
  const int64_t count = std::clamp<int64_t>(std::min(wanted, length / kLeast), 1, kMost);
  const int64_t each = (length + count - 1) / count;
  return {each == 0 ? 1 : (length + each - 1) / each, each};
}

// The values of `all` at the axes that are in `axes`, and at those that are not.
struct Cut {
  Ints outside, inside;
};

inline Cut cutAt(const Ints& all, const Ints& axes) {
  Cut cut;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_inside = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    (is_inside ? cut.inside : cut.outside).push_back(all[i]);
  }
  return cut;
}

}  // namespace torchtrt::cuda
