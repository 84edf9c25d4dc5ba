#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "cuda/plugins/plugins.h"

namespace torchtrt::cuda {

namespace {

using kernels::TensorDesc;

std::unique_ptr<kernels::Prepared> prepareSearch(const Layer& layer, const kernels::ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const TensorDesc& bounds = shapes.inputs.at(0);
  const TensorDesc& values = shapes.inputs.at(1);
  const TensorDesc& out = shapes.outputs.at(0);
  // Boundaries of one dimension are those of all values.
  Ints rows = bounds.dims.size() == 1 ? Ints(values.dims.size(), 0) : bounds.strides;
  if (!rows.empty()) {
    rows.back() = 0;
  }
  const Layout layout = collapsed(values.dims, {values.strides, rows, out.strides});
  Source source;
  source.define("STORED", storedType(values.dtype)).define("OUT", storedType(out.dtype)).define("RANK", layout.rank());
  source.define("RIGHT", int64_t{layer.attributes.getBool("right")});
  source.include("text/storage.cuh").include("plugins/search.cuh");
  Arguments arguments;
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.input(1);
  addStrides(arguments, layout.strides[1]);
  arguments.value(bounds.dims.back()).value(bounds.strides.back()).input(0);
  addStrides(arguments, layout.strides[2]);
  arguments.output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "search", geometryFor(layout.count()), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createSearch(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "Search")) {
    return *refusal;
  }
  return launched(problem, prepareSearch);
}

}  // namespace torchtrt::cuda
