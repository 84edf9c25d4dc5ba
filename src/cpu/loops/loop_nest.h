// Loops over tensors of one shape for vector code: dimensions are sorted by the first tensor's strides and merged, and
// the body gets blocks of rows, so that short rows (a few channels) cost little each. StridedLoop is the simpler choice
// for scalar code.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {

// Dims or strides of the axes but one: of the rows along that.
inline std::vector<int64_t> withoutAxis(std::vector<int64_t> values, size_t axis) {
  values.erase(values.begin() + static_cast<ptrdiff_t>(axis));
  return values;
}

// True if two tensors of these dims are one row each, with equal elements in equal places.
bool lieDenseAlike(const std::vector<int64_t>& dims, const std::vector<int64_t>& a, const std::vector<int64_t>& b);

class LoopNest {
 public:
  static constexpr size_t kMaxTensors = 4;
  using Strides = std::array<int64_t, kMaxTensors>;

  // strides[t][axis] in elements; tensor 0 (the output) decides the order.
  LoopNest(const std::vector<int64_t>& dims, const std::vector<std::vector<int64_t>>& strides);

  struct Block {
    Strides offsets;  // of the block's first element
    Strides row_strides;
    Strides steps;  // along a row
    int64_t rows;
    int64_t length;  // of a row
  };

  int64_t count() const {
    return count_;
  }
  // True if tensor 0 is dense, so that the loop visits its elements in the order of memory.
  bool isDense() const;
  // True if all is one row.
  bool isOneRow() const {
    return count_ == dims_.back();
  }
  // Strides along the innermost dimension.
  const Strides& steps() const {
    return strides_.back();
  }

  // body(block) for blocks that cover everything, of at most max_block elements (or one row of at most that many),
  // spread over threads that each get at least `grain` elements.
  template <typename Body>
  void run(int threads, int64_t max_block, int64_t grain, Body&& body) const {
    if (count_ == 0) {
      return;
    }
    const int64_t length = dims_.back();
    const int64_t segment = length < max_block ? length : max_block;
    const int64_t segments = (length + segment - 1) / segment;
    const int64_t rows = count_ / length;
    const int64_t unit_grain = grain / segment > 1 ? grain / segment : 1;
    parallelFor(threads, 0, rows * segments, unit_grain, [&](int64_t begin, int64_t end) {
      const int64_t most_rows = segments > 1 ? 1 : max_block / segment;
      for (int64_t unit = begin; unit < end;) {
        Block block = blockAt(unit / segments);
        const int64_t first = unit % segments * segment;
        for (size_t t = 0; t < kMaxTensors; ++t) {
          block.offsets[t] += first * block.steps[t];
        }
        block.length = length - first < segment ? length - first : segment;
        block.rows = std::min({block.rows, most_rows, end - unit});
        body(static_cast<const Block&>(block));
        unit += block.rows;
      }
    });
  }

  // The same for the elements from `begin` to `end` alone, on this thread.
  template <typename Body>
  void runPiece(int64_t begin, int64_t end, int64_t max_block, Body&& body) const {
    const int64_t length = dims_.back();
    while (begin < end) {
      Block block = blockAt(begin / length);
      const int64_t first = begin % length;
      for (size_t t = 0; t < kMaxTensors; ++t) {
        block.offsets[t] += first * block.steps[t];
      }
      block.length = std::min({length - first, end - begin, max_block});
      block.rows = block.length < length ? 1 : std::min({block.rows, max_block / length, (end - begin) / length});
      body(static_cast<const Block&>(block));
      begin += block.rows * block.length;
    }
  }

 private:
  // The block from this row up to the end of the second innermost dimension.
  Block blockAt(int64_t row) const;

  std::vector<int64_t> dims_;  // at least two
  std::vector<Strides> strides_;
  int64_t count_ = 1;
};

}  // namespace torchtrt::kernels
