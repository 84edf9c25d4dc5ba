// Stand-ins for the inputs of a call, for schedules that are made ahead of it.
#pragma once

#include <span>
#include <vector>

#include "torchtrt/engine.h"

namespace torchtrt::engine {

// Inputs of one end or the optimum of their ranges, which lie in rows. All have `data`, which no schedule reads.
class RowMajorInputs {
 public:
  using Sizes = std::vector<int64_t> BindingInfo::*;

  RowMajorInputs(const std::vector<BindingInfo>& inputs, Sizes sizes, const void* data = nullptr);  // `inputs` live on
  RowMajorInputs(const RowMajorInputs&) = delete;
  RowMajorInputs& operator=(const RowMajorInputs&) = delete;

  std::span<const TensorView> views() const {
    return views_;
  }

 private:
  std::vector<std::vector<int64_t>> strides_;
  std::vector<TensorView> views_;
};

}  // namespace torchtrt::engine
