#include <string>
#include <utility>

#include "cuda/launch/activation.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/spatial.h"
#include "cuda/launch/types.h"
#include "cuda/quantized/finish.h"
#include "cuda/quantized/quantized.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// Both functions of products.cuh are made; a launch uses one.
Source sourceOf(const Layer& layer, const ShapeSet& shapes, int64_t row_axes) {
  Source source;
  source.define("IN", storedType(shapes.inputs.at(kSteps).dtype)).define("ROWS", row_axes);
  addFinishText(source, layer, shapes, false);
  source.include("quantized/products.cuh");
  return source;
}

// The scale of each column or channel, and the bias.
void addPerChannel(Arguments& arguments, const Layer& layer, const ShapeSet& shapes) {
  arguments.value(shapes.inputs.at(kScale).strides.at(0)).input(kScale);
  arguments.value(layer.has(kBias) ? shapes.inputs[kBias].strides.at(0) : int64_t{0});
  layer.add(arguments, kBias);
}

std::unique_ptr<kernels::Prepared> prepareMatmul(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc &a = shapes.inputs.at(kSteps), &b = shapes.inputs.at(kWeights), &out = shapes.outputs.at(0);
  const Ints& beside = layer.has(kResidual) ? shapes.inputs[kResidual].strides : out.strides;
  const auto withoutLast = [](const Ints& values) { return Ints(values.begin(), values.end() - 1); };
  const Layout rows =
      collapsed(withoutLast(out.dims), {withoutLast(a.strides), withoutLast(beside), withoutLast(out.strides)});
  Arguments arguments;
  arguments.value(rows.count()).value(out.dims.back()).value(a.dims.back()).value(zeroPointOf(layer.attributes));
  arguments.value(finishOf(layer, shapes));
  addWalk(arguments, rows.dims, rows.strides[0]);
  arguments.value(a.strides.back()).input(kSteps);
  arguments.value(b.strides.at(0)).value(b.strides.at(1)).input(kWeights);
  addPerChannel(arguments, layer, shapes);
  addWalk(arguments, rows.dims, rows.strides[1]);
  arguments.value(beside.back());
  layer.add(arguments, kResidual);
  addWalk(arguments, rows.dims, rows.strides[2]);
  arguments.value(out.strides.back()).output(0);
  const auto tiles = [](int64_t size) { return (size + 15) / 16; };
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(sourceOf(layer, shapes, rows.rank()), "matmul",
                blocksFor(tiles(rows.count()) * tiles(out.dims.back()), 256), std::move(arguments));
  return launches;
}

std::unique_ptr<kernels::Prepared> prepareConvolution(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc &in = shapes.inputs.at(kSteps), &filter = shapes.inputs.at(kWeights), &out = shapes.outputs.at(0);
  const Attributes& attributes = layer.attributes;
  const int64_t groups = std::max<int64_t>(1, attributes.getInt("groups", 1));
  const int64_t count = countOf(out.dims);
  Arguments arguments;
  arguments.value(count).value(out.dims.at(1)).value(in.dims.at(1) / groups).value(out.dims.at(1) / groups);
  arguments.value(zeroPointOf(layer.attributes)).value(finishOf(layer, shapes));
  arguments.value(sizeOfImage(in.dims)).value(sizeOfImage(out.dims)).value(sizeOfImage(filter.dims));
  arguments.value(spatial(attributes.getInts("stride"), 1)).value(spatial(attributes.getInts("pre_padding"), 0));
  arguments.value(spatial(attributes.getInts("dilation"), 1));
  arguments.value(imageOf(in.strides)).input(kSteps).value(imageOf(filter.strides)).input(kWeights);
  addPerChannel(arguments, layer, shapes);
  arguments.value(imageOf(layer.has(kResidual) ? shapes.inputs[kResidual].strides : out.strides));
  layer.add(arguments, kResidual);
  arguments.value(imageOf(out.strides)).output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(sourceOf(layer, shapes, 0), "convolution", geometryFor(count), std::move(arguments));
  return launches;
}

kernels::CreateResult create(const kernels::Problem& problem, Prepare prepare) {
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, DType::kFloat32)) {
    return *refusal;
  }
  return launched(problem, std::move(prepare));
}

}  // namespace

kernels::CreateResult createQuantizedMatmul(const kernels::Problem& problem) {
  return create(problem, prepareMatmul);
}

kernels::CreateResult createQuantizedConvolution(const kernels::Problem& problem) {
  return create(problem, prepareConvolution);
}

}  // namespace torchtrt::cuda
