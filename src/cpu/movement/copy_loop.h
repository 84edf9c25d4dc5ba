// A copy between two strided tensors of one shape, made ready once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/movement/transpose.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

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
    const auto size = static_cast<int64_t>(size_);
    loop_.run(threads, kBlock, grainFor(1), [&](const LoopNest::Block& block) {
      const std::byte* source_row = from + (source_offset_ + block.offsets[1]) * size;
      std::byte* target_row = to + (target_offset_ + block.offsets[0]) * size;
      for (int64_t row = 0; row < block.rows; ++row) {
        copyRun(size_, source_row, block.steps[1], target_row, block.steps[0], block.length);
        source_row += block.row_strides[1] * size;
        target_row += block.row_strides[0] * size;
      }
    });
  }

 private:
  static constexpr int64_t kBlock = 65536;  // elements of a share of a thread at the most

  LoopNest loop_;
  size_t size_;
  int64_t target_offset_, source_offset_;
  std::optional<Transpose> transpose_;
};

}  // namespace torchtrt::kernels
