#include "cuda/resize/resize.h"

#include <array>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "kernels/resize/axes.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// ResizeAxis of resize.cuh.
struct AxisArgument {
  int64_t in = 1, out = 1, in_stride = 0, out_stride = 0;
  double step = 1;
  float nearest_step = 1;
  int taps = 1, align_corners = 0, copies_equal = 1, shift = 0;
};

// True if places and weights are computed in double, as those of interpolated integers are.
bool hasDoublePlaces(DType dtype, int taps) {
  return dtype == DType::kFloat64 || (!isFloating(dtype) && taps > 1);
}

AxisArgument argumentOf(const kernels::ResizeAxis& axis, DType dtype) {
  AxisArgument argument;
  argument.in = axis.in;
  argument.out = axis.out;
  argument.taps = kernels::tapCount(axis.mode);
  argument.step = hasDoublePlaces(dtype, argument.taps) ? kernels::inputStep<double>(axis)
                                                        : static_cast<double>(kernels::inputStep<float>(axis));
  argument.nearest_step = kernels::inputStep<float>(axis);
  argument.align_corners = int{axis.align_corners};
  argument.copies_equal = int{axis.copies_equal};
  argument.shift = isFloating(dtype) || argument.taps == 1 ? 0 : kernels::byteTaps(axis).shift;
  return argument;
}

std::unique_ptr<kernels::Prepared> prepareResize(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& out = shapes.outputs.at(0);
  const kernels::ResizeConfig config = kernels::readResizeConfig(layer.attributes);
  const std::vector<kernels::ResizeAxis> axes = kernels::resizeAxes(config, shapes);
  const size_t lead = out.dims.size() - axes.size();
  if (countOf(in.dims) == 0 && countOf(out.dims) != 0) {
    throw EngineError(ErrorCode::kShapeArithmetic, "resize met an input without elements", {},
                      "pass a tensor whose spatial dimensions are at least 1");
  }
  std::array<AxisArgument, 3> arguments_of_axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisArgument& argument = arguments_of_axes[3 - axes.size() + i];
    argument = argumentOf(axes[i], out.dtype);
    argument.in_stride = in.strides[lead + i];
    argument.out_stride = out.strides[lead + i];
  }
  const auto leading = [lead](const Ints& all) { return Ints(all.begin(), all.begin() + static_cast<int64_t>(lead)); };
  const Layout planes = collapsed(leading(out.dims), {leading(in.strides), leading(out.strides)});
  Source source;
  source.define("STORED", storedType(out.dtype)).define("C", computedType(out.dtype)).define("LEAD", planes.rank());
  source.define("P", hasDoublePlaces(out.dtype, kernels::tapCount(config.mode)) ? "double" : "float");
  source.define("MODE", static_cast<int64_t>(config.mode)).define("IS_INTEGER", int64_t{!isFloating(out.dtype)});
  source.define("IS_BYTE", int64_t{out.dtype == DType::kUInt8}).define("INDEX", indexType(countOf(out.dims)));
  source.include("text/storage.cuh").include("text/rounded.cuh").include("resize/resize.cuh");
  Arguments arguments;
  arguments.value(countOf(out.dims));
  for (const AxisArgument& axis : arguments_of_axes) {
    arguments.value(axis);
  }
  addWalk(arguments, planes.dims, planes.strides[0]);
  arguments.input(0);
  addWalk(arguments, planes.dims, planes.strides[1]);
  arguments.output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "resize", geometryFor(countOf(out.dims)), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createResize(const kernels::Problem& problem) {
  return launched(problem, prepareResize);
}

}  // namespace torchtrt::cuda
