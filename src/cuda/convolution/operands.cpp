#include "cuda/convolution/operands.h"

#include "cuda/convolution/weight_product.h"
#include "cuda/convolution/weights.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kBatch, kChannel, kHeight, kWidth };

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

Place residualByRows(Launches& launches, const Layer& layer, const ShapeSet& shapes, size_t index) {
  if (!layer.has(index)) {
    return {};
  }
  TensorDesc residual = shapes.inputs[index];
  const bool lies_so = lies(residual.dims, residual.strides, true);
  return withChannelsLast(launches, residual, Place::input(layer, index), lies_so);
}

Place denseValues(Launches& launches, const Layer& layer, const ShapeSet& shapes, size_t index) {
  const Place place = Place::input(layer, index);
  if (!layer.has(index) || shapes.inputs[index].strides.at(0) == 1) {
    return place;
  }
  const TensorDesc& values = shapes.inputs[index];
  const Place copy = Place::reserve(launches, countOf(values.dims), values.dtype);
  addCopy(launches, values.dtype, values.dims, {place, values.strides}, {copy, {1}});
  return copy;
}

Arguments& addValues(Arguments& arguments, const Layer& layer, const ShapeSet& shapes, size_t index) {
  arguments.value(layer.has(index) ? shapes.inputs[index].strides.at(0) : int64_t{0});
  return layer.add(arguments, index);
}

bool hasChannelsInChunks(const TensorDesc& desc, int64_t chunk) {
  bool lies_so = desc.strides[kChannel] == 1;
  for (const size_t axis : {kBatch, kHeight, kWidth}) {
    lies_so = lies_so && (desc.dims[axis] == 1 || desc.strides[axis] % chunk == 0);
  }
  return lies_so;
}

bool isPointwise(const Attributes& attributes, const Ints& filter) {
  return filter[kHeight] == 1 && filter[kWidth] == 1 && areAll(attributes.getInts("stride"), 1) &&
         areAll(attributes.getInts("pre_padding"), 0) && areAll(attributes.getInts("post_padding"), 0);
}

Windows windowsOf(const Attributes& attributes, const TensorDesc& in, const Ints& filter, const Ints& out) {
  const auto of = [&](const char* name, size_t axis) { return static_cast<int>(attributes.getInts(name)[axis]); };
  const auto size = [](const Ints& dims, size_t axis) { return static_cast<int>(dims[axis]); };
  return {size(filter, kChannel), size(filter, kWidth), size(in.dims, kHeight), size(in.dims, kWidth),
          size(out, kHeight),     size(out, kWidth),    of("stride", 0),        of("stride", 1),
          of("pre_padding", 0),   of("pre_padding", 1), of("dilation", 0),      of("dilation", 1),
          in.strides[kBatch],     in.strides[kHeight],  in.strides[kWidth]};
}

}  // namespace torchtrt::cuda
