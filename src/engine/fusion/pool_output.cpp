// First layers of small image networks: a convolution writes the maxima of two by two pixels instead of its result,
// which nothing else reads.
#include "engine/fusion/fuser.h"

namespace torchtrt::engine {

bool Fuser::poolInstead(size_t index, Draft& draft) {
  const int32_t pooling = model_.candidates.pooled_by[index];
  if (pooling < 0) {
    return false;
  }
  const plan::Step& step = stepOf(draft.step);
  const int32_t maxima = stepOf(pooling).outputs[0];
  const kernels::TensorDesc& desc = placeOf(maxima).desc;
  const std::vector<int64_t>& dims = placeOf(step.outputs[0]).desc.dims;
  if (placeOf(maxima).bytes == 0) {
    return false;
  }
  for (size_t axis = 2; axis < dims.size(); ++axis) {
    if (2 * desc.dims[axis] > dims[axis]) {
      return refuse(Rule::kPoolOutput, draft.step, pooling, "the last window is cut off (ceil_mode)");
    }
  }
  kernels::ShapeSet shapes = shapes_of_(step, step.inputs);
  shapes.outputs = {desc};
  locateErrors(step, [&] {
    draft.prepared = kernelOf(kernelAs<kernels::PoolsOutput>(draft.step)->preparePooled(shapes), Rule::kPoolOutput,
                              draft.step, pooling);
  });
  if (draft.prepared == nullptr) {
    return false;
  }
  draft.rule = Rule::kPoolOutput;
  draft.fused = {pooling};
  draft.outputs = {maxima};
  stateOf(pooling).done = true;
  return true;
}

}  // namespace torchtrt::engine
