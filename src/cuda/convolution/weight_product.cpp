#include "cuda/convolution/weight_product.h"

#include <algorithm>
#include <utility>

#include "cuda/convolution/direct.h"
#include "cuda/convolution/weights.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };

}  // namespace

bool areAll(const Ints& values, int64_t value) {
  return std::all_of(values.begin(), values.end(), [value](int64_t each) { return each == value; });
}

bool readsWeights(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& filter = shapes.inputs.at(kFilter);
  return lies(filter.dims, filter.strides, false) &&
         (!layer.has(kBias) || filter.dims[0] == 1 || shapes.inputs[kBias].strides.at(0) == 1);
}

bool addWeightProduct(Launches& launches, const Layer& layer, const ShapeSet& shapes, const CublasLt& api,
                      const WeightProduct& product) {
  if (!layer.device.isHere()) {
    return true;
  }
  const TensorDesc& out = shapes.outputs.at(0);
  const Ints& filter = shapes.inputs.at(kFilter).dims;
  const int64_t outputs = filter[0], depth = countOf(filter) / outputs, rows = countOf(out.dims) / outputs;
  LtProblem problem;
  problem.in = problem.out = out.dtype;
  problem.tf32 = layer.attributes.getBool("tf32", false);
  problem.transpose_a = true;
  problem.a = {depth, outputs, depth};
  problem.b = {depth, rows, depth};
  problem.d = problem.c = {outputs, rows, outputs};
  const bool has_scale = layer.has(kernels::kScale);  // bias and residual are added behind it
  problem.adds_bias = layer.has(kBias) && !has_scale;
  problem.adds_c = layer.has(kResidual) && !has_scale;
  const std::shared_ptr<LtProduct> call = LtProduct::make(layer.device, api, problem);
  if (call == nullptr) {
    return false;
  }
  Arguments arguments;
  for (const Place& place : {Place::input(layer, kFilter), product.x, problem.adds_c ? product.residual : product.y,
                             product.y, problem.adds_bias ? Place::input(layer, kBias) : Place()}) {
    place.addTo(arguments);
  }
  arguments.scratch(launches.reserve(call->workspaceBytes()));
  launches.add(call, std::move(arguments));
  return true;
}

std::unique_ptr<kernels::Prepared> productOrDirect(const Layer& layer, const ShapeSet& shapes, const Way& multiply,
                                                   const char* if_none) {
  if (std::unique_ptr<kernels::Prepared> product = firstOf(layer.device, {multiply}, if_none)) {
    return product;
  }
  const Strided weights = {Place::input(layer, kFilter), shapes.inputs.at(kFilter).strides};
  return prepareDirectConvolution(layer, shapes, weights, false);
}

}  // namespace torchtrt::cuda
