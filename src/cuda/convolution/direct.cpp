#include <string>

#include "cuda/convolution/convolution.h"
#include "cuda/convolution/direct.h"
#include "cuda/convolution/operands.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/spatial.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/types.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

using kernels::ShapeSet;
using kernels::TensorDesc;

std::unique_ptr<kernels::Prepared> prepareDirectConvolution(const Layer& layer, const ShapeSet& shapes,
                                                            const Strided& weights, bool transposed) {
  enum : size_t { kIn, kFilter, kBias, kResidual };
  const TensorDesc& in = shapes.inputs.at(kIn);
  const TensorDesc& filter = shapes.inputs.at(kFilter);
  const TensorDesc& out = shapes.outputs.at(0);
  const Attributes& attributes = layer.attributes;
  const int64_t groups = attributes.getInt("groups", 1);
  const int64_t outputs = out.dims.at(1);
  const int64_t outputs_of_group = groups == 0 ? 0 : outputs / groups;
  const int64_t channels_of_group = groups == 0 ? 0 : in.dims.at(1) / groups;
  Source source;
  source.define("STORED", storedType(out.dtype)).define("A", computedType(out.dtype));
  source.define("TRANSPOSED", int64_t{transposed});
  defineOrder(source, out.dims, out.strides);
  defineScale(source, layer.has(kernels::kScale), out.dtype);
  defineFusedActivation(source, attributes, out.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("convolution/convolution.cuh");
  Arguments arguments;
  arguments.value(countOf(out.dims)).value(outputs).value(channels_of_group).value(outputs_of_group);
  arguments.value(sizeOfImage(in.dims)).value(sizeOfImage(out.dims)).value(sizeOfImage(filter.dims));
  arguments.value(spatial(attributes.getInts("stride"), 1)).value(spatial(attributes.getInts("pre_padding"), 0));
  arguments.value(spatial(attributes.getInts("dilation"), 1));
  weights.place.addTo(arguments.value(imageOf(in.strides)).input(kIn).value(imageOf(weights.strides)));
  addValues(arguments, layer, shapes, kernels::kScale);
  addValues(arguments, layer, shapes, kBias);
  const bool has_residual = !transposed && layer.has(kResidual);
  arguments.value(imageOf(has_residual ? shapes.inputs[kResidual].strides : out.strides));
  has_residual ? arguments.input(kResidual) : arguments.absent();
  arguments.value(imageOf(out.strides)).output(0);
  addFusedActivation(arguments, attributes);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "convolution", geometryFor(countOf(out.dims)), std::move(arguments));
  return launches;
}

namespace {

kernels::CreateResult create(const kernels::Problem& problem, bool transposed) {
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, problem.outputs.at(0).dtype)) {
    return *refusal;
  }
  return launched(problem, [transposed](const Layer& layer, const ShapeSet& shapes) {
    const Strided weights = {Place::input(layer, 1), shapes.inputs.at(1).strides};
    return prepareDirectConvolution(layer, shapes, weights, transposed);
  });
}

}  // namespace

kernels::CreateResult createDirectConvolution(const kernels::Problem& problem) {
  return create(problem, false);
}

kernels::CreateResult createDirectDeconvolution(const kernels::Problem& problem) {
  return create(problem, true);
}

}  // namespace torchtrt::cuda
