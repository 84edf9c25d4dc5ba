#include "cuda/convolution/operands.h"

#include "cuda/convolution/weights.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kBias = 2, kResidual = 3 };

}  // namespace

Place withChannelsLast(Launches& launches, TensorDesc& desc, const Place& place, bool lies_so) {
  if (lies_so) {
    return place;
  }
  const Place copy = Place::reserve(launches, countOf(desc.dims), desc.dtype);
  const Ints strides = imageStrides(desc.dims, true);
  addCopy(launches, desc.dtype, desc.dims, {place, desc.strides}, {copy, strides});
  desc.strides = strides;
  return copy;
}

Place residualByRows(Launches& launches, const Layer& layer, const ShapeSet& shapes) {
  if (!layer.has(kResidual)) {
    return {};
  }
  TensorDesc residual = shapes.inputs[kResidual];
  const bool lies_so = lies(residual.dims, residual.strides, true);
  return withChannelsLast(launches, residual, Place::input(layer, kResidual), lies_so);
}

Place denseBias(Launches& launches, const Layer& layer, const ShapeSet& shapes) {
  const Place place = Place::input(layer, kBias);
  if (!layer.has(kBias) || shapes.inputs[kBias].strides.at(0) == 1) {
    return place;
  }
  const TensorDesc& bias = shapes.inputs[kBias];
  const Place copy = Place::reserve(launches, countOf(bias.dims), bias.dtype);
  addCopy(launches, bias.dtype, bias.dims, {place, bias.strides}, {copy, {1}});
  return copy;
}

}  // namespace torchtrt::cuda
