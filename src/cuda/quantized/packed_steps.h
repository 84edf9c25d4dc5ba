// Weights of int8 as tensor cores read them: a line for each result along the depth, with zeros up to a multiple of 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/launch/steps.h"
#include "cuda/launch/table.h"

namespace torchtrt::cuda {

class PackedSteps {
 public:
  // Line `column` has the element at column * column_step + step of `weights` for each of `depth_steps`, and zero for
  // each that is negative. `zero_point` is that of the other factor, which is of uint8 or int8.
  PackedSteps(const int8_t* weights, int64_t columns, int64_t column_step, const std::vector<int64_t>& depth_steps,
              int32_t zero_point);

  size_t bytes() const {
    return table_.bytes();
  }
  int64_t columns() const {
    return columns_;
  }
  int64_t depth() const {  // with the zeros
    return depth_;
  }
  int32_t zeroPoint() const {
    return zero_point_;
  }
  // True if no sum of products reaches 2^22, with the correction or without.
  bool hasSmallSums() const {
    return has_small_sums_;
  }

  // Pointers in the device's memory, which the first call fills.
  DevicePointer weights(const CudaDevice& device);
  DevicePointer corrections(const CudaDevice& device);  // the zero point times the sum of each line, in 32 bits
  DevicePointer padding(const CudaDevice& device);      // 16 zero points

 private:
  int64_t columns_, depth_;
  int32_t zero_point_;
  bool has_small_sums_;
  Table table_;
};

}  // namespace torchtrt::cuda
