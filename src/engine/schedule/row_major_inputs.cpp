#include "engine/schedule/row_major_inputs.h"

#include "kernels/kernel.h"

namespace torchtrt::engine {

RowMajorInputs::RowMajorInputs(const std::vector<BindingInfo>& inputs, Sizes sizes, const void* data) {
  for (const BindingInfo& input : inputs) {
    const std::vector<int64_t>& dims = input.*sizes;
    strides_.push_back(kernels::denseStrides(dims));
    views_.push_back({input.dtype, static_cast<int32_t>(dims.size()), dims.data(), strides_.back().data(), data});
  }
}

}  // namespace torchtrt::engine
