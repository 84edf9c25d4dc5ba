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
