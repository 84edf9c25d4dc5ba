#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "cuda/matmul/matmul.h"

namespace torchtrt::cuda {

namespace {

std::unique_ptr<kernels::Prepared> prepareGrouped(const Layer& layer, const kernels::ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const kernels::TensorDesc &a = shapes.inputs.at(0), &b = shapes.inputs.at(1), &ends = shapes.inputs.at(2);
  const kernels::TensorDesc& out = shapes.outputs.at(0);
  Source source;
  source.define("STORED", storedType(a.dtype)).define("A", computedType(a.dtype));
  source.define("INDEX", storedType(ends.dtype));
  source.include("text/storage.cuh").include("matmul/grouped.cuh");
  Arguments arguments;
  arguments.value(a.dims.at(0)).value(a.dims.at(1)).value(out.dims.at(1)).value(b.dims.at(0));
  arguments.value(a.strides.at(0)).value(a.strides.at(1)).input(0);
  arguments.value(b.strides.at(0)).value(b.strides.at(1)).value(b.strides.at(2)).input(1);
  arguments.value(ends.strides.at(0)).input(2);
  arguments.value(out.strides.at(0)).value(out.strides.at(1)).output(0).fault();
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "grouped", geometryFor(countOf(out.dims)), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createGroupedProduct(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "GroupedProduct")) {
    return *refusal;
  }
  return launched(problem, prepareGrouped);
}

}  // namespace torchtrt::cuda
