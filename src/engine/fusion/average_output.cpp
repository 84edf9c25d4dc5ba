// Squeeze and excitation: a depthwise convolution sums its result for the average over the image while it writes it.
#include "engine/fusion/fuser.h"

namespace torchtrt::engine {

// The tensor of the mean of each channel of a convolution's result, if the convolution may write it; else -1.
int32_t Fuser::meansOf(size_t index) const {
  const int32_t averaging = model_.candidates.averaged_by[index];
  if (averaging < 0) {
    return -1;
  }
  const int32_t means = stepOf(averaging).outputs[0];
  const bool is_per_channel = isPerChannel(placeOf(means).desc, placeOf(model_.plan.steps[index].outputs[0]).desc);
  return is_per_channel ? means : -1;
}

bool Fuser::averageToo(size_t index, Draft& draft) {
  const int32_t means = meansOf(index);
  if (means < 0) {
    const int32_t averaging = model_.candidates.averaged_by[index];
    return averaging >= 0 && refuse(Rule::kAverageOutput, draft.step, averaging, "needs one average for each channel");
  }
  const plan::Step& step = stepOf(draft.step);
  locateErrors(step, [&] {
    draft.prepared = kernelAs<kernels::AveragesOutput>(draft.step)->prepareWithMeans(shapes_of_(step, step.inputs));
  });
  draft.rule = Rule::kAverageOutput;
  markAveraged(index, draft, means);
  return true;
}

}  // namespace torchtrt::engine
