// Walks several tensors of one shape together, whatever their strides: runs along the innermost dimension, with the
// offset and step of every tensor. The order of elements is free, so dimensions are sorted by the first tensor's
// strides and merged. FlatCursor instead keeps the row-major order, for operations that change the shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "cpu/threads/thread_memory.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels {

// Returns the offset, in elements, of the element with row-major number `position` over the first `axes` dimensions.
int64_t offsetAt(int64_t position, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, size_t axes);

class StridedLoop {
 public:
  static constexpr size_t kMaxTensors = 5;

  // strides[t][axis] in elements; tensor 0 (the output) decides the order.
  StridedLoop(const std::vector<int64_t>& dims, const std::vector<std::vector<int64_t>>& strides);

  // Elements in all.
  int64_t count() const {
    return count_;
  }

  // body(offsets, steps, n) for runs of at most max_run elements that cover elements [begin, end) of the walk.
  template <typename Body>
  void run(int64_t begin, int64_t end, int64_t max_run, Body&& body) const {
    if (begin >= end) {
      return;
    }
    ThreadVector<int64_t> index(dims_.size(), 0);
    std::array<int64_t, kMaxTensors> offsets{};
    seek(begin, index, offsets);
    const size_t inner = dims_.size() - 1;
    for (int64_t position = begin; position < end;) {
      const int64_t n = std::min({dims_[inner] - index[inner], end - position, max_run});
      body(offsets.data(), steps_[inner].data(), n);
      position += n;
      advance(n, index, offsets);
    }
  }

 private:
  using Steps = std::array<int64_t, kMaxTensors>;
  void seek(int64_t position, ThreadVector<int64_t>& index, Steps& offsets) const;
  void advance(int64_t n, ThreadVector<int64_t>& index, Steps& offsets) const;

  std::vector<int64_t> dims_;  // at least one
  std::vector<Steps> steps_;   // per dimension, per tensor
  int64_t count_ = 1;
};

// A position in a strided tensor that moves in row-major order.
class FlatCursor {
 public:
  // The dimensions are merged where that keeps the order.
  FlatCursor(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides);

  void seek(int64_t position);
  void advance(int64_t n);  // at most runLength()
  int64_t offset() const {
    return offset_;
  }
  int64_t step() const {
    return strides_.back();
  }
  // Elements up to the end of the innermost dimension.
  int64_t runLength() const {
    return dims_.back() - index_.back();
  }

 private:
  std::vector<int64_t> dims_, strides_, index_;
  int64_t offset_ = 0;
};

}  // namespace torchtrt::kernels
