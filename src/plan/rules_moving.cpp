// Families that move elements: shuffle, slice, expand, concatenation, gather, scatter, padding.
#include <algorithm>

#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

using Wide = __int128;

Shape permute(const Shape& dims, const std::vector<int64_t>& permutation) {
  Shape result;
  for (const int64_t axis : permutation) {
    result.push_back(dims[static_cast<size_t>(axis)]);
  }
  return permutation.empty() ? dims : result;
}

void checkShuffle(const StepChecker& step) {
  step.requirePresent(1);
  const std::vector<int64_t>& first = step.attributes().getInts("first_permutation");
  const std::vector<int64_t>& second = step.attributes().getInts("second_permutation");
  step.requirePermutation(first, step.in(0).rank());
  Shape dims = permute(step.in(0).dims, first);
  if (step.hasDims("reshape_dims")) {
    const Shape& reshaped = step.dims("reshape_dims");
    if (checkedBytes(reshaped, step.in(0).dtype) != checkedBytes(dims, step.in(0).dtype)) {
      const std::string rule =
          "it reshapes " + dimsText(dims) + " to another number of elements, " + dimsText(reshaped);
      step.require(false, rule.c_str());
    }
    dims = reshaped;
  }
  step.requirePermutation(second, dims.size());
  step.requireOutput(0, permute(dims, second), step.in(0).dtype);
}

void checkSlice(const StepChecker& step) {
  step.requirePresent(1);
  const Shape& start = step.dims("start");
  const Shape& size = step.dims("size");
  const std::vector<int64_t>& stride = step.attributes().getInts("stride");
  const size_t rank = step.in(0).rank();
  step.require(start.size() == rank && size.size() == rank && stride.size() == rank,
               "it has a wrong number of entries");
  for (size_t axis = 0; axis < rank; ++axis) {
    step.require(stride[axis] != 0 && size[axis] >= 0, "a stride is 0 or a size negative");
    const int64_t dim = step.in(0).dims[axis];
    const Wide last = start[axis] + static_cast<Wide>(size[axis] - 1) * stride[axis];
    step.require(size[axis] == 0 || (start[axis] >= 0 && start[axis] < dim && last >= 0 && last < dim),
                 "it reaches outside of its input");
  }
  step.requireOutput(0, size, step.in(0).dtype);
}

void checkExpand(const StepChecker& step) {
  step.requirePresent(1);
  step.requireBroadcast(step.in(0).dims, step.dims("dims"));
  step.requireOutput(0, step.dims("dims"), step.in(0).dtype);
}

void checkConcatenation(const StepChecker& step) {
  step.requirePresent(step.inputs());
  const auto& first = step.in(0);
  const size_t axis = step.axis(first);
  Shape out = first.dims;
  Wide total = 0;
  for (size_t i = 0; i < step.inputs(); ++i) {
    const auto& input = step.in(i);
    step.require(input.rank() == first.rank() && input.dtype == first.dtype,
                 "its operands differ in rank or element type");
    total += input.dims[axis];
    for (size_t d = 0; d < out.size(); ++d) {
      step.require(d == axis || input.dims[d] == out[d], "its operands differ beside the axis");
    }
  }
  step.require(total <= INT64_MAX, "its output has an impossible size");
  out[axis] = static_cast<int64_t>(total);
  step.requireOutput(0, out, first.dtype);
}

void checkGather(const StepChecker& step) {
  step.requirePresent(2);
  const auto& data = step.in(0);
  const auto& indices = step.in(1);
  const std::string& mode = step.attributes().getString("mode");
  step.requireOneOf(mode, {"default", "element"}, "mode");
  step.require(indices.dtype == DType::kInt32 || indices.dtype == DType::kInt64, "its indices are not int32 or int64");
  const size_t axis = step.axis(data);
  if (mode == "default") {
    Shape out(data.dims.begin(), data.dims.begin() + static_cast<int64_t>(axis));
    out.insert(out.end(), indices.dims.begin(), indices.dims.end());
    out.insert(out.end(), data.dims.begin() + static_cast<int64_t>(axis) + 1, data.dims.end());
    step.requireOutput(0, out, data.dtype);
    return;
  }
  step.require(indices.rank() == data.rank(), "data and indices differ in rank");
  for (size_t d = 0; d < data.rank(); ++d) {
    step.require(d == axis || indices.dims[d] <= data.dims[d], "its indices are larger than its data");
  }
  step.requireOutput(0, indices.dims, data.dtype);
}

void checkScatter(const StepChecker& step) {
  step.requirePresent(3);
  const auto& data = step.in(0);
  const auto& indices = step.in(1);
  const auto& updates = step.in(2);
  const std::string& mode = step.attributes().getString("mode");
  const std::string& reduce = step.attributes().getString("reduce");
  step.requireOneOf(mode, {"default", "element"}, "mode");
  step.requireOneOf(reduce, {"none", "sum", "prod", "max", "min"}, "reduction");
  step.require(indices.dtype == DType::kInt32 || indices.dtype == DType::kInt64, "its indices are not int32 or int64");
  step.require(updates.dtype == data.dtype, "its updates are not of the data's element type");
  step.require(reduce == "none" || data.dtype != DType::kBool, "bools cannot be folded");
  const size_t axis = step.axis(data);
  step.require(updates.rank() == data.rank(), "data and updates differ in rank");
  for (size_t d = 0; d < data.rank(); ++d) {
    const bool fits = mode == "element" ? updates.dims[d] <= data.dims[d] : updates.dims[d] == data.dims[d];
    step.require(d == axis || fits, "its updates do not fit into its data");
  }
  step.require(indices.dims == (mode == "element" ? updates.dims : Shape{updates.dims[axis]}),
               "its indices have not the updates' dimensions");
  step.requireOutput(0, data.dims, data.dtype);
}

void checkPadding(const StepChecker& step) {
  step.requirePresent(1);
  const auto& input = step.in(0);
  const Shape& pre = step.dims("pre");
  const Shape& post = step.dims("post");
  const std::string& mode = step.attributes().getString("mode");
  step.requireOneOf(mode, {"constant", "reflect", "replicate", "circular"}, "mode");
  step.require(pre.size() == input.rank() && post.size() == input.rank(), "it has not one entry per dimension");
  Shape out;
  for (size_t axis = 0; axis < input.rank(); ++axis) {
    const int64_t dim = input.dims[axis];
    const int64_t widest = std::max(pre[axis], post[axis]);
    const Wide size = static_cast<Wide>(dim) + pre[axis] + post[axis];
    step.require(size >= 0 && size <= INT64_MAX, "its output has an impossible size");
    step.require(mode == "constant" || mode == "circular" || std::min(pre[axis], post[axis]) >= 0,
                 "only constant and circular padding can crop");
    step.require(mode != "reflect" || widest == 0 || widest < dim, "reflected padding is wider than the input");
    step.require(mode != "circular" || widest <= dim, "circular padding is wider than the input");
    step.require(mode != "replicate" || widest == 0 || dim > 0, "there is nothing to replicate");
    out.push_back(static_cast<int64_t>(size));
  }
  step.requireOutput(0, out, input.dtype);
}

}  // namespace

bool checkMoving(const StepChecker& step) {
  const std::string& family = step.step().family;
  if (family == "shuffle") {
    checkShuffle(step);
  } else if (family == "slice") {
    checkSlice(step);
  } else if (family == "expand") {
    checkExpand(step);
  } else if (family == "concatenation") {
    checkConcatenation(step);
  } else if (family == "gather") {
    checkGather(step);
  } else if (family == "scatter") {
    checkScatter(step);
  } else if (family == "padding") {
    checkPadding(step);
  } else {
    return false;
  }
  return true;
}

}  // namespace torchtrt::plan
