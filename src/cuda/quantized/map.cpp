#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"
#include "cuda/quantized/quantized.h"
#include "cuda/quantized/steps.h"

namespace torchtrt::cuda {

namespace {

template <typename Parameters>
std::unique_ptr<kernels::Prepared> prepareMap(const Layer& layer, const kernels::ShapeSet& shapes,
                                              const char* function) {
  const kernels::TensorDesc &in = shapes.inputs.at(0), &out = shapes.outputs.at(0);
  const Layout layout = collapsedInAnyOrder(out.dims, {in.strides, out.strides});
  int64_t chunk = chunkOf(layout, {sizeOf(in.dtype), sizeOf(out.dtype)});
  if (layout.count() % chunk != 0 || (layout.rank() > 0 && layout.strides[0].back() == 0)) {
    chunk = 1;
  }
  Source source;
  source.define("FROM", storedType(in.dtype)).define("TO", storedType(out.dtype)).define("RANK", layout.rank());
  source.define("CHUNK", chunk);
  source.include("text/storage.cuh").include("text/chunks.cuh").include("text/inputs.cuh");
  source.include("quantized/steps.cuh").include("quantized/map.cuh");
  source.include("quantized/" + std::string(function) + ".cuh");
  Arguments arguments;
  arguments.value(layout.count() / chunk).value(Parameters::of(layer.attributes, "scale", "zero_point"));
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.input(0);
  addWalk(arguments, layout.dims, layout.strides[1]);
  arguments.output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, function, geometryFor(layout.count() / chunk), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createQuantize(const kernels::Problem& problem) {
  return launched(problem, [](const Layer& layer, const kernels::ShapeSet& shapes) {
    return prepareMap<Quantizer>(layer, shapes, "quantize");
  });
}

kernels::CreateResult createDequantize(const kernels::Problem& problem) {
  return launched(problem, [](const Layer& layer, const kernels::ShapeSet& shapes) {
    return prepareMap<Dequantizer>(layer, shapes, "dequantize");
  });
}

}  // namespace torchtrt::cuda
