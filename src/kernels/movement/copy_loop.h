// A copy between two strided tensors of one shape, made ready once.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/common/convert.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/movement/transpose.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels {

class CopyLoop {
 public:
  // Offsets and strides in elements.
  CopyLoop(DType dtype, const std::vector<int64_t>& dims, const std::vector<int64_t>& target_strides,
           const std::vector<int64_t>& source_strides, int64_t target_offset = 0, int64_t source_offset = 0)
      : loop_(dims, {target_strides, source_strides}),
        size_(sizeOf(dtype)),
        target_offset_(target_offset),
        source_offset_(source_offset),
        transpose_(Transpose::find(size_, dims, target_strides, source_strides)) {}

  void run(int threads, const void* source, void* target) const {
    const auto* from = static_cast<const std::byte*>(source);
    auto* to = static_cast<std::byte*>(target);
    if (transpose_) {
      transpose_->run(threads, from + source_offset_ * static_cast<int64_t>(size_),
                      to + target_offset_ * static_cast<int64_t>(size_));
      return;
    }
    parallelFor(threads, 0, loop_.count(), grainFor(1), [&](int64_t begin, int64_t end) {
      loop_.run(begin, end, std::numeric_limits<int64_t>::max(),
                [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
                  copyRun(size_, from + static_cast<size_t>(source_offset_ + offsets[1]) * size_, steps[1],
                          to + static_cast<size_t>(target_offset_ + offsets[0]) * size_, steps[0], n);
                });
    });
  }

 private:
  StridedLoop loop_;
  size_t size_;
  int64_t target_offset_, source_offset_;
  std::optional<Transpose> transpose_;
};

}  // namespace torchtrt::kernels
