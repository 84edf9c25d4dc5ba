// Inverted residuals: a depthwise convolution computes the 1x1 convolution before it line by line, so that the wide
// image between the two stays in the cache.
#include "engine/fusion/fuser.h"

namespace torchtrt::engine {

bool Fuser::leaveToDepthwise(size_t index) {
  const int32_t reader = model_.candidates.lines_for[index];
  if (reader < 0 || states_[index].prepared != nullptr) {
    return false;
  }
  const auto first = static_cast<int32_t>(index);
  const plan::Step& step = stepOf(first);
  const plan::Step& reading = stepOf(reader);
  if (placeOf(reading.outputs[0]).bytes == 0) {
    return false;
  }
  State& state = stateOf(reader);
  const int32_t means = meansOf(static_cast<size_t>(reader));
  locateErrors(reading, [&] {
    state.prepared = kernelOf(kernelAs<kernels::ReadsPixels>(reader)->prepareBehind(
                                  shapes_of_(reading, reading.inputs), *kernelAs<kernels::ComputesPixels>(first),
                                  shapes_of_(step, step.inputs), means >= 0),
                              Rule::kDepthwiseLines, first, reader);
  });
  if (state.prepared == nullptr) {
    return false;
  }
  state.inputs = reading.inputs;
  state.inputs[0] = -1;
  state.inputs.insert(state.inputs.end(), step.inputs.begin(), step.inputs.end());
  state.rule = Rule::kDepthwiseLines;
  state.before = first;
  state.means = means;
  return true;
}

}  // namespace torchtrt::engine
