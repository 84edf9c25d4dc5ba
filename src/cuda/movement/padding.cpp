#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "cuda/launch/bits.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/movement/movement.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// PaddedAxis of pad.cuh.
struct Axis {
  int64_t in_size, in_stride, out_size, out_stride, before;

  bool isWhole() const {
    return before == 0 && in_size == out_size;
  }
};

constexpr std::array<const char*, 4> kModes = {"constant", "reflect", "replicate", "circular"};

int64_t numberOf(const std::string& mode) {
  for (size_t i = 0; i < kModes.size(); ++i) {
    if (mode == kModes[i]) {
      return static_cast<int64_t>(i);
    }
  }
  throw InternalError("padding has no mode \"" + mode + "\"");
}

// Axes that are not padded and lie next to each other become one.
std::vector<Axis> axesOf(const TensorDesc& in, const TensorDesc& out, const Ints& before, bool is_constant) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < out.dims.size(); ++i) {
    const Axis axis{in.dims[i], in.strides[i], out.dims[i], out.strides[i], before.at(i)};
    if (axis.in_size == 0 && axis.out_size != 0 && !is_constant) {
      throw EngineError(ErrorCode::kShapeArithmetic,
                        "axis " + std::to_string(i) + " is empty, and this padding repeats elements of it", {},
                        "pad with a constant, or pass a tensor that is not empty");
    }
    const bool merges = !axes.empty() && axes.back().isWhole() && axis.isWhole() &&
                        axes.back().in_stride == axis.in_stride * axis.in_size &&
                        axes.back().out_stride == axis.out_stride * axis.out_size;
    if (merges) {
      Axis& last = axes.back();
      last = {last.in_size * axis.in_size, axis.in_stride, last.out_size * axis.out_size, axis.out_stride, 0};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

}  // namespace

kernels::CreateResult createPadding(const kernels::Problem& problem) {
  return launched(problem, [](const Layer& layer, const ShapeSet& shapes) {
    const TensorDesc& out = shapes.outputs.at(0);
    const int64_t mode = numberOf(layer.attributes.getString("mode", "constant"));
    std::vector<Axis> axes = axesOf(shapes.inputs.at(0), out, shapes.dimsOf("pre"), mode == 0);
    Source source;
    source.define("E", bitsType(out.dtype)).define("MODE", mode).define("RANK", static_cast<int64_t>(axes.size()));
    source.define("INDEX", indexType(countOf(out.dims)));
    source.include("text/storage.cuh").include("movement/pad.cuh");
    Arguments arguments;
    if (axes.empty()) {
      axes.push_back({});  // the text keeps room for one
    }
    arguments.value(countOf(out.dims)).bytes(axes.data(), axes.size() * sizeof(Axis));
    arguments.input(0).output(0).value(bitsOf(layer.attributes.getDouble("value", 0), out.dtype));
    auto launches = std::make_unique<Launches>(layer.device);
    launches->add(source, "pad", geometryFor(countOf(out.dims)), std::move(arguments));
    return launches;
  });
}

}  // namespace torchtrt::cuda
