#include <algorithm>
#include <iterator>
#include <string>

#include "base/check.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/resize/resize.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// Images of grid_sample.cuh.
struct ImagesArgument {
  int64_t size[3] = {1, 1, 1}, in_strides[3] = {0, 0, 0};
  int64_t channels = 0, in_channel = 0, out_channel = 0, grid_step = 0;
  int axes = 2;
};

int64_t numberOf(const std::string& name, std::initializer_list<const char*> names) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  TORCHTRT_CHECK(found != names.end(), "grid_sample has no \"" << name << "\"");
  return found - names.begin();
}

std::unique_ptr<kernels::Prepared> prepareGridSample(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(0);
  const TensorDesc& grid = shapes.inputs.at(1);
  const TensorDesc& out = shapes.outputs.at(0);
  const auto axes = static_cast<int64_t>(in.dims.size()) - 2;
  TORCHTRT_CHECK(axes == 2 || axes == 3, axes << " spatial dimensions");
  if (countOf({in.dims.begin() + 2, in.dims.end()}) == 0 && countOf(out.dims) != 0) {
    throw EngineError(ErrorCode::kShapeArithmetic, "grid_sample met an input without elements", {},
                      "pass a tensor whose spatial dimensions are at least 1");
  }
  ImagesArgument images;
  images.axes = static_cast<int>(axes);
  std::copy_backward(in.dims.begin() + 2, in.dims.end(), std::end(images.size));
  std::copy_backward(in.strides.begin() + 2, in.strides.end(), std::end(images.in_strides));
  images.channels = out.dims[1];
  images.in_channel = in.strides[1];
  images.out_channel = out.strides[1];
  images.grid_step = grid.strides.back();
  // Over the batch and the places, without channels.
  const auto withoutSecond = [](Ints all) { return all.erase(all.begin() + 1), all; };
  const Ints places = withoutSecond(out.dims);
  Ints of_batch(places.size(), 0);
  of_batch[0] = in.strides[0];
  const Layout layout =
      collapsed(places, {of_batch, {grid.strides.begin(), grid.strides.end() - 1}, withoutSecond(out.strides)});
  const std::string& mode = layer.attributes.getString("mode");
  const std::string& edge = layer.attributes.getString("padding");
  Source source;
  source.define("STORED", storedType(out.dtype)).define("GRID", storedType(grid.dtype));
  source.define("C", computedType(out.dtype)).define("PLACES", layout.rank());
  source.define("MODE", numberOf(mode, {"nearest", "linear", "cubic"}));
  source.define("EDGE", numberOf(edge, {"zeros", "border", "reflection"}));
  source.define("ALIGN", int64_t{layer.attributes.getBool("align_corners", false)});
  source.include("text/storage.cuh").include("text/rounded.cuh").include("resize/grid_sample.cuh");
  Arguments arguments;
  arguments.value(layout.count()).value(images);
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.input(0);
  addWalk(arguments, layout.dims, layout.strides[1]);
  arguments.input(1);
  addWalk(arguments, layout.dims, layout.strides[2]);
  arguments.output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "grid_sample", geometryFor(layout.count()), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createGridSample(const kernels::Problem& problem) {
  return launched(problem, prepareGridSample);
}

}  // namespace torchtrt::cuda
