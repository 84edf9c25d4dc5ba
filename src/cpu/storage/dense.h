// An operand as a row-major array of its compute type: in place where memory already holds that, else converted into
// scratch memory. For kernels that read every element many times, so that one pass of conversion pays.
#pragma once

#include <cstddef>
#include <vector>

#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels {

class DenseOperand {
 public:
  explicit DenseOperand(const TensorDesc& desc);

  // Returns the scratch bytes of dense(): a multiple of 64, 0 if the operand is used in place.
  size_t scratchBytes() const {
    return scratch_bytes_;
  }

  // T is the compute type of the operand's dtype.
  template <typename T>
  const T* dense(int threads, const void* data, void* scratch) const {
    if (in_place_) {
      return static_cast<const T*>(data);
    }
    T* out = static_cast<T*>(scratch);
    const Reader<T> reader(dtype_);
    parallelFor(threads, 0, loop_.count(), kGrain, [&](int64_t begin, int64_t end) {
      loop_.run(begin, end, loop_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        reader.read(data, offsets[1], steps[1], n, out + offsets[0]);
      });
    });
    return out;
  }

 private:
  static constexpr int64_t kGrain = 16384;

  StridedLoop loop_;
  DType dtype_;
  bool in_place_;
  size_t scratch_bytes_;
};

}  // namespace torchtrt::kernels
