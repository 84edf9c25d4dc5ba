#include "engine/joining.h"

#include <utility>

#include "kernels/joins.h"

namespace torchtrt::engine {

using kernels::TensorDesc;

// Whether the one reader of a product multiplies itself.
bool Joining::leaveToReader(size_t index) {
  const int32_t reader = model_.joins.readers[index];
  if (reader < 0) {
    return false;
  }
  const plan::Step& step = model_.plan.steps[index];
  const plan::Step& reading = stepOf(reader);
  const TensorDesc& product = placeOf(step.outputs[0]).desc;
  const bool swapped = placeOf(step.inputs[0]).desc.dims != product.dims;
  const int32_t tensor = step.inputs[swapped ? 1 : 0];
  const int32_t factors = step.inputs[swapped ? 0 : 1];
  if (placeOf(reading.outputs[0]).bytes == 0 || placeOf(tensor).desc.dims != product.dims ||
      !isPerChannel(placeOf(factors).desc, product)) {
    return false;
  }
  Joined& joined = joinedOf(reader);
  joined.inputs = reading.inputs;
  joined.inputs[0] = tensor;
  locateErrors(reading, [&] {
    joined.prepared = kernelAs<kernels::ScalesInput>(reader)->prepareScaled(shapes_of_(reading, joined.inputs));
  });
  joined.inputs.push_back(factors);
  return joined.prepared != nullptr;
}

// Whether the one reader of a convolution computes it, too, line by line.
bool Joining::leaveToFollower(size_t index) {
  const int32_t follower = model_.joins.followers[index];
  if (follower < 0 || joined_[index].prepared != nullptr) {
    return false;
  }
  const plan::Step& step = model_.plan.steps[index];
  const plan::Step& following = stepOf(follower);
  if (placeOf(following.outputs[0]).bytes == 0) {
    return false;
  }
  Joined& joined = joinedOf(follower);
  const int32_t means = meansOf(static_cast<size_t>(follower));
  locateErrors(following, [&] {
    joined.prepared = kernelAs<kernels::ReadsPixels>(follower)->prepareBehind(
        shapes_of_(following, following.inputs), *kernelAs<kernels::ComputesPixels>(static_cast<int32_t>(index)),
        shapes_of_(step, step.inputs), means >= 0);
  });
  if (joined.prepared == nullptr) {
    return false;
  }
  joined.inputs = following.inputs;
  joined.inputs[0] = -1;
  joined.inputs.insert(joined.inputs.end(), step.inputs.begin(), step.inputs.end());
  joined.before = static_cast<int32_t>(index);
  joined.means = means;
  return true;
}

// What was left to this step.
bool Joining::computeBefore(size_t index, Draft& draft) {
  Joined& joined = joined_[index];
  if (joined.prepared == nullptr) {
    return false;
  }
  draft.prepared = std::move(joined.prepared);
  draft.inputs = std::move(joined.inputs);
  if (joined.before >= 0) {
    draft.chained = {joined.before};
  }
  if (joined.means >= 0) {
    draft.outputs.push_back(joined.means);
    joinedOf(model_.joins.averagers[index]).done = true;
  }
  return true;
}

// What holds the mean of each channel of a convolution's result, if the convolution may write it; else -1.
int32_t Joining::meansOf(size_t index) const {
  const int32_t averager = model_.joins.averagers[index];
  if (averager < 0) {
    return -1;
  }
  const int32_t means = stepOf(averager).outputs[0];
  return isPerChannel(placeOf(means).desc, placeOf(model_.plan.steps[index].outputs[0]).desc) ? means : -1;
}

// Whether a convolution also does the step that averages each channel of its result.
bool Joining::averageToo(size_t index, Draft& draft) {
  const int32_t means = meansOf(index);
  if (means < 0) {
    return false;
  }
  const plan::Step& step = model_.plan.steps[index];
  locateErrors(step, [&] {
    draft.prepared = kernelAs<kernels::AveragesOutput>(draft.step)->prepareWithMeans(shapes_of_(step, step.inputs));
  });
  if (draft.prepared == nullptr) {
    return false;
  }
  draft.outputs.push_back(means);
  joinedOf(model_.joins.averagers[index]).done = true;
  return true;
}

// Whether a convolution writes the maxima that alone are read of its result.
bool Joining::poolInstead(size_t index, Draft& draft) {
  const int32_t pooler = model_.joins.poolers[index];
  if (pooler < 0) {
    return false;
  }
  const plan::Step& step = model_.plan.steps[index];
  const int32_t maxima = stepOf(pooler).outputs[0];
  const TensorDesc& desc = placeOf(maxima).desc;
  const std::vector<int64_t>& dims = placeOf(step.outputs[0]).desc.dims;
  bool is_inside = placeOf(maxima).bytes != 0;
  for (size_t axis = 2; axis < dims.size(); ++axis) {  // with ceil_mode the last window may be cut
    is_inside = is_inside && 2 * desc.dims[axis] <= dims[axis];
  }
  if (!is_inside) {
    return false;
  }
  kernels::ShapeSet shapes = shapes_of_(step, step.inputs);
  shapes.outputs = {desc};
  locateErrors(step, [&] { draft.prepared = kernelAs<kernels::PoolsOutput>(draft.step)->preparePooled(shapes); });
  if (draft.prepared == nullptr) {
    return false;
  }
  draft.outputs = {maxima};
  joinedOf(pooler).done = true;
  return true;
}

}  // namespace torchtrt::engine
