#include "cpu/convolution/onednn/onednn_desc.h"

#ifndef TORCHTRT_NO_ONEDNN

#include <algorithm>

namespace torchtrt::kernels::convolution {

std::optional<Refusal> refuseLayout(const Problem& problem, const Geometry& geometry) {
  if (!isRowMajor(problem.inputs[0]) && !isChannelsLast(problem.inputs[0])) {
    return Refusal{"memory-order", "reads row-major and channels-last only"};
  }
  if (problem.outputs[0].order != problem.inputs[0].order) {
    return Refusal{"memory-order", "reads and writes in one memory order only"};
  }
  if (geometry.has_residual && problem.inputs[3].order != problem.outputs[0].order) {
    return Refusal{"memory-order", "reads the residual in the order of the output only"};
  }
  const auto negative = [](int64_t value) { return value < 0; };
  if (std::any_of(geometry.pre_padding.begin(), geometry.pre_padding.end(), negative) ||
      std::any_of(geometry.post_padding.begin(), geometry.post_padding.end(), negative)) {
    return Refusal{"padding", "takes no negative padding"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::kernels::convolution

#endif  // TORCHTRT_NO_ONEDNN
