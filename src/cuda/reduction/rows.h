// A tensor as rows: the axes that number them, and those inside of one.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "cuda/launch/kernel.h"
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

// Parts of at least `least` elements, up to `wanted` for all rows.
inline RowParts cutRows(int64_t rows, int64_t length, int64_t wanted, int64_t least) {
  constexpr int64_t kMost = 256;
  const int64_t count = std::clamp<int64_t>(std::min(wanted / std::max<int64_t>(rows, 1), length / least), 1, kMost);
  const int64_t each = (length + count - 1) / count;
  return {each == 0 ? 1 : (length + each - 1) / each, each};
}

// Parts for a block each; one with Layer::batch_invariant.
inline RowParts partsOf(const Layer& layer, int64_t rows, int64_t length) {
  const int64_t wanted = layer.batch_invariant ? 1 : 4 * int64_t{layer.device.processors()};
  return cutRows(rows, length, wanted, 4096);
}

// The plan by which text/rows.cuh folds rows.
struct RowPlan {
  int64_t argument[4] = {0, 0, 1, 0};  // Rows: how many, their length, parts of each and their length
  int64_t lanes = 1, threads = 256;
  Geometry geometry;

  int64_t parts() const {
    return argument[2];
  }
  bool isInParts() const {
    return parts() > 1;
  }
  // Returns the scratch bytes of one value for each part.
  size_t scratchBytes() const {
    return static_cast<size_t>(argument[0] * argument[2]) * sizeof(double);
  }
  void define(Source& source) const {
    source.define("LANES", lanes).define("THREADS", threads);
  }
};

// `is_by_column`: neighbouring rows lie closer than the elements of a row. With Layer::batch_invariant neither that nor
// the number of rows shows in a row's bits: each is folded as a whole, by as many lanes as its length says.
inline RowPlan planRows(const Layer& layer, int64_t rows, int64_t length, bool is_by_column) {
  const CudaDevice& device = layer.device;
  is_by_column = is_by_column && !layer.batch_invariant;
  constexpr int64_t kMostThreads = 256;
  const auto powerFrom = [](int64_t least) {
    int64_t power = 1;
    while (power < kMostThreads && power < least) {
      power *= 2;
    }
    return power;
  };
  const int64_t at_once = int64_t{device.processors()} * 1024;  // threads
  RowPlan plan;
  if (!is_by_column) {  // some elements for each lane, where there are rows enough
    plan.lanes = powerFrom((length + 3) / 4);
    plan.lanes = rows * plan.lanes < at_once && !layer.batch_invariant ? powerFrom(length) : plan.lanes;
  }
  const RowParts parts = is_by_column ? cutRows(rows, length, at_once, 64) : partsOf(layer, rows, length);
  const int64_t all = rows * parts.count * plan.lanes;
  plan.threads = std::max(plan.lanes, std::clamp<int64_t>(powerFrom(all), 32, kMostThreads));
  const int64_t of_block = plan.threads / plan.lanes;
  plan.geometry = blocksFor((rows * parts.count + of_block - 1) / of_block, static_cast<unsigned>(plan.threads));
  const int64_t argument[] = {rows, length, parts.count, parts.length};
  std::copy(std::begin(argument), std::end(argument), plan.argument);
  return plan;
}

// True if the nearest elements of different rows lie closer than those of one row.
inline bool liesByColumn(const Layout& kept, const Ints& along_row) {
  constexpr int64_t kFew = 32;
  const auto nearest = [](const Ints& strides) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const int64_t stride : strides) {
      least = stride > 0 ? std::min(least, stride) : least;
    }
    return least;
  };
  return kept.count() >= kFew && nearest(kept.strides[0]) < nearest(along_row) &&
         nearest(along_row) != std::numeric_limits<int64_t>::max();
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
