// Families that slide a window over the last dimensions: convolution, deconvolution, pooling, adaptive pooling, resize.
#include <algorithm>
#include <cmath>

#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

using Wide = __int128;

constexpr Wide kMostArea = Wide{1} << 60;  // of a window with what it steps over, in elements

struct Window {
  int64_t kernel, stride, pre, post, dilation;
};

// Number of positions of a window; the largest number on overflow, which no tensor has.
int64_t positions(const StepChecker& step, int64_t size, const Window& w, bool ceil_mode) {
  const Wide free = static_cast<Wide>(size) + w.pre + w.post - static_cast<Wide>(w.dilation) * (w.kernel - 1) - 1;
  step.require(free >= 0 || (ceil_mode && free + w.stride > 0), "the window is larger than the padded input");
  Wide count = (free + (ceil_mode ? w.stride - 1 : 0)) / w.stride + 1;
  if (ceil_mode && (count - 1) * w.stride >= static_cast<Wide>(size) + w.pre) {
    --count;  // the last window would start behind the input
  }
  return static_cast<int64_t>(std::min<Wide>(count, INT64_MAX));
}

void requireGeometry(const StepChecker& step, size_t spatial) {
  step.require(spatial >= 1 && spatial <= 3, "it has not 1 to 3 spatial dimensions");
  step.requireInts("stride", spatial, 1, kMostPadding);
  step.requireInts("dilation", spatial, 1, kMostPadding);
  step.requireInts("pre_padding", spatial, 0, kMostPadding);
  step.requireInts("post_padding", spatial, 0, kMostPadding);
}

Window windowAt(const StepChecker& step, size_t axis, int64_t kernel) {
  const Attributes& a = step.attributes();
  return {kernel, a.getInts("stride")[axis], a.getInts("pre_padding")[axis], a.getInts("post_padding")[axis],
          a.getInts("dilation")[axis]};
}

void requireSameType(const StepChecker& step) {
  for (size_t i = 0; i < step.inputs(); ++i) {
    step.require(!step.in(i).present || step.in(i).dtype == step.in(0).dtype, "its operands differ in element type");
  }
}

// What convolutions and deconvolution share: operands present, ranks, geometry, groups that divide.
int64_t requireKernel(const StepChecker& step) {
  step.requirePresent(2);
  const auto& input = step.in(0);
  const auto& kernel = step.in(1);
  step.require(input.rank() >= 3 && kernel.rank() == input.rank(), "input and kernel differ in rank");
  requireGeometry(step, input.rank() - 2);
  const int64_t groups = step.attributes().getInt("groups");
  step.require(groups >= 1 && input.dims[1] % groups == 0 && kernel.dims[0] % groups == 0,
               "groups do not divide channels");
  for (size_t axis = 2; axis < kernel.rank(); ++axis) {
    step.require(kernel.dims[axis] >= 1, "the kernel is empty");
  }
  step.requireActivation();
  return groups;
}

void checkConvolution(const StepChecker& step) {
  const Shape out = convolvedShape(step);
  requireSameType(step);
  step.require(!step.in(2).present || step.in(2).dims == Shape{out[1]}, "the bias has not one entry per channel");
  step.require(!step.in(3).present || step.in(3).dims == out, "the residual has not the output's dimensions");
  step.requireOutput(0, out, step.in(0).dtype);
}

void checkDeconvolution(const StepChecker& step) {
  const int64_t groups = requireKernel(step);
  requireSameType(step);
  const auto& input = step.in(0);
  const auto& kernel = step.in(1);
  step.require(kernel.dims[0] == input.dims[1], "the kernel's channels are not the input's");
  step.require(kernel.dims[1] <= kMostPadding && groups <= kMostPadding, "it has too many channels");
  step.requireInts("output_padding", input.rank() - 2, 0, kMostPadding);
  const int64_t channels = kernel.dims[1] * groups;
  Shape out = {input.dims[0], channels};
  for (size_t axis = 2; axis < input.rank(); ++axis) {
    const Window w = windowAt(step, axis - 2, kernel.dims[axis]);
    const int64_t extra = step.attributes().getInts("output_padding")[axis - 2];
    const Wide size = static_cast<Wide>(input.dims[axis] - 1) * w.stride - w.pre - w.post +
                      static_cast<Wide>(w.dilation) * (w.kernel - 1) + extra + 1;
    step.require(size >= 0 && size <= INT64_MAX, "its output has an impossible size");
    out.push_back(static_cast<int64_t>(size));
  }
  step.require(!step.in(2).present || step.in(2).dims == Shape{channels}, "the bias has not one entry per channel");
  step.requireOutput(0, out, input.dtype);
}

// Values, and with return_indices a second output of flat indices.
void requirePooled(const StepChecker& step, const Shape& out) {
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(op, {"max", "average"}, "operation");
  step.requireOutput(0, out, step.in(0).dtype);
  const bool indices = step.attributes().getBool("return_indices");
  step.require(step.outputs() == (indices ? 2U : 1U) && (!indices || op == "max"), "it has a wrong number of outputs");
  if (indices) {
    step.requireOutput(1, out, DType::kInt64);
  }
}

void checkPooling(const StepChecker& step) {
  step.requirePresent(1);
  const size_t spatial = step.attributes().getInts("window").size();
  requireGeometry(step, spatial);
  step.requireInts("window", spatial, 1, kMostPadding);
  step.require(step.attributes().getInt("divisor") >= 0, "the divisor is negative");
  step.require(step.in(0).rank() >= spatial, "the input has fewer dimensions than the window");
  const auto window_at = [&](size_t axis) { return windowAt(step, axis, step.attributes().getInts("window")[axis]); };
  Wide area = 1;  // averages may be divided by it
  for (size_t axis = 0; axis < spatial; ++axis) {
    const Window window = window_at(axis);
    area *= std::min(kMostArea, static_cast<Wide>(window.dilation) * (window.kernel - 1)) + 1;
    step.require(area <= kMostArea, "its windows are too large");
  }
  Shape out = step.in(0).dims;
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t& dim = out[out.size() - spatial + axis];
    dim = positions(step, dim, window_at(axis), step.attributes().getBool("ceil_mode"));
  }
  requirePooled(step, out);
}

void checkAdaptivePooling(const StepChecker& step) {
  step.requirePresent(1);
  const Shape& size = step.dims("output_size");
  step.require(!size.empty() && size.size() <= 3 && step.in(0).rank() >= size.size(),
               "it has not 1 to 3 spatial dimensions");
  Shape out = step.in(0).dims;
  for (size_t axis = 0; axis < size.size(); ++axis) {
    int64_t& dim = out[out.size() - size.size() + axis];
    step.require(dim > 0 || size[axis] == 0, "a spatial dimension of the input is empty");
    dim = size[axis];
  }
  requirePooled(step, out);
}

void checkResize(const StepChecker& step) {
  step.requirePresent(1);
  const Shape& size = step.dims("size");
  const std::vector<double>& scales = step.attributes().getDoubles("scales");
  step.requireOneOf(step.attributes().getString("mode"), {"nearest", "nearest_exact", "linear", "cubic"}, "mode");
  step.require(!size.empty() && size.size() <= 3 && step.in(0).rank() >= size.size(),
               "it has not 1 to 3 spatial dimensions");
  step.require(scales.empty() || scales.size() == size.size(), "it has a wrong number of scales");
  for (const double scale : scales) {
    step.require(std::isfinite(scale) && scale >= 0, "a scale is negative or not finite");
  }
  Shape out = step.in(0).dims;
  for (size_t axis = 0; axis < size.size(); ++axis) {
    int64_t& dim = out[out.size() - size.size() + axis];
    step.require(dim > 0 || size[axis] == 0, "a spatial dimension of the input is empty");
    dim = size[axis];
  }
  step.requireOutput(0, out, step.in(0).dtype);
}

void checkGridSample(const StepChecker& step) {
  step.requirePresent(2);
  const auto& input = step.in(0);
  const auto& grid = step.in(1);
  const std::string& mode = step.attributes().getString("mode");
  step.requireOneOf(mode, {"nearest", "linear", "cubic"}, "mode");
  step.requireOneOf(step.attributes().getString("padding"), {"zeros", "border", "reflection"}, "padding");
  step.require(isFloating(input.dtype) && grid.dtype == input.dtype, "its operands are not of one floating type");
  step.require((input.rank() == 4 || (input.rank() == 5 && mode != "cubic")) && grid.rank() == input.rank(),
               "its operands have a wrong rank");
  step.require(grid.dims[0] == input.dims[0] && grid.dims.back() == static_cast<int64_t>(input.rank()) - 2,
               "the grid does not fit its input");
  Shape out = {input.dims[0], input.dims[1]};
  out.insert(out.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  step.requireOutput(0, out, input.dtype);
}

}  // namespace

Shape convolvedShape(const StepChecker& step) {
  const int64_t groups = requireKernel(step);
  const auto& input = step.in(0);
  const auto& kernel = step.in(1);
  step.require(kernel.dims[1] == input.dims[1] / groups, "the kernel's channels are not the input's");
  Shape out = {input.dims[0], kernel.dims[0]};
  for (size_t axis = 2; axis < input.rank(); ++axis) {
    out.push_back(positions(step, input.dims[axis], windowAt(step, axis - 2, kernel.dims[axis]), false));
  }
  return out;
}

bool checkWindowed(const StepChecker& step) {
  const std::string& family = step.step().family;
  if (family == "convolution") {
    checkConvolution(step);
  } else if (family == "deconvolution") {
    checkDeconvolution(step);
  } else if (family == "pooling") {
    checkPooling(step);
  } else if (family == "adaptive_pooling") {
    checkAdaptivePooling(step);
  } else if (family == "resize") {
    checkResize(step);
  } else if (family == "grid_sample") {
    checkGridSample(step);
  } else {
    return false;
  }
  return true;
}

}  // namespace torchtrt::plan
