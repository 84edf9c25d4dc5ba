#include "cpu/reduce/axes.h"

#include <algorithm>
#include <cstdlib>

namespace torchtrt::kernels::reduce {
namespace {

bool isReduced(const std::vector<int64_t>& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
}

LoopNest keptNest(const std::vector<int64_t>& axes, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs[0];
  const TensorDesc& out = shapes.outputs[0];
  const bool keeps_dims = in.dims.size() == out.dims.size();
  std::vector<int64_t> dims, in_strides, out_strides;
  size_t out_axis = 0;
  for (size_t axis = 0; axis < in.dims.size(); ++axis) {
    if (!isReduced(axes, axis)) {
      dims.push_back(in.dims[axis]);
      in_strides.push_back(in.strides[axis]);
      out_strides.push_back(out.strides[out_axis]);
    }
    out_axis += !isReduced(axes, axis) || keeps_dims ? 1 : 0;
  }
  return {dims, {out_strides, in_strides}};
}

StridedLoop reducedLoop(const std::vector<int64_t>& axes, const TensorDesc& in) {
  std::vector<int64_t> dims, strides;
  for (size_t axis = 0; axis < in.dims.size(); ++axis) {
    if (isReduced(axes, axis)) {
      dims.push_back(in.dims[axis]);
      strides.push_back(in.strides[axis]);
    }
  }
  return {dims, {strides}};
}

}  // namespace

ReduceAxes::ReduceAxes(const std::vector<int64_t>& reduced_axes, const ShapeSet& shapes)
    : kept(keptNest(reduced_axes, shapes)), reduced(reducedLoop(reduced_axes, shapes.inputs[0])) {
  if (isHalf(shapes.inputs[0].dtype)) {
    halves = halfRows(shapes.inputs[0].dtype);
  }
  if (reduced.count() == 0) {
    return;
  }
  reduced.run(0, 1, 1, [&](const int64_t*, const int64_t* steps, int64_t) {
    by_rows = steps[0] == 1;
    are_wide = reduced.count() == 1 || std::abs(steps[0]) >= 8;
  });
  reduced.run(0, reduced.count(), reduced.count(),
              [&](const int64_t*, const int64_t*, int64_t n) { in_one_run = n == reduced.count(); });
  in_one_row = by_rows && in_one_run;
}

}  // namespace torchtrt::kernels::reduce
