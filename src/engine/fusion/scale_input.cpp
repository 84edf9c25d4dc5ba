// Squeeze and excitation: the 1x1 convolution behind it multiplies its input by a factor for each image and channel.
#include "engine/fusion/fuser.h"

namespace torchtrt::engine {

bool Fuser::leaveToScaling(size_t index) {
  const int32_t reader = model_.candidates.scaled_by[index];
  if (reader < 0) {
    return false;
  }
  const auto first = static_cast<int32_t>(index);
  const plan::Step& step = stepOf(first);
  const plan::Step& reading = stepOf(reader);
  const kernels::TensorDesc& scaled = placeOf(step.outputs[0]).desc;
  const bool swapped = placeOf(step.inputs[0]).desc.dims != scaled.dims;
  const int32_t tensor = step.inputs[swapped ? 1 : 0];
  const int32_t factors = step.inputs[swapped ? 0 : 1];
  if (placeOf(reading.outputs[0]).bytes == 0) {
    return false;
  }
  if (placeOf(tensor).desc.dims != scaled.dims || !isPerChannel(placeOf(factors).desc, scaled)) {
    return refuse(Rule::kScaleInput, first, reader, "needs one dense factor for each image and channel");
  }
  State& state = stateOf(reader);
  std::vector<int32_t> inputs = reading.inputs;
  inputs[0] = tensor;
  locateErrors(reading, [&] {
    state.prepared = kernelOf(kernelAs<kernels::ScalesInput>(reader)->prepareScaled(shapes_of_(reading, inputs)),
                              Rule::kScaleInput, first, reader);
  });
  inputs.push_back(factors);
  state.inputs = std::move(inputs);
  state.rule = Rule::kScaleInput;
  state.before = first;
  return state.prepared != nullptr;
}

}  // namespace torchtrt::engine
