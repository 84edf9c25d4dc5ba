#include <algorithm>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "cuda/plugins/plugins.h"
#include "cuda/plugins/regions.h"

namespace torchtrt::cuda {

namespace {

using kernels::TensorDesc;

// Deformed and Image of deform.cuh.
struct DeformedArgument {
  int64_t channels, channels_of_group, height, width;
  int64_t columns, taps, tap_columns;
  int64_t stride[2], padding[2], dilation[2];
};
struct ImageArgument {
  int64_t batch = 0, channel = 0, row = 0, column = 0;
};

ImageArgument imageOf(const TensorDesc& desc) {
  return {desc.strides.at(0), desc.strides.at(1), desc.strides.at(2), desc.strides.at(3)};
}

std::unique_ptr<kernels::Prepared> prepareDeformedColumns(const Layer& layer, const kernels::ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  enum : size_t { kInput, kOffsets, kMasks };
  const Attributes& fields = layer.attributes;
  const TensorDesc& in = shapes.inputs.at(kInput);
  const TensorDesc& offsets = shapes.inputs.at(kOffsets);
  const TensorDesc& out = shapes.outputs.at(0);
  const bool has_mask = layer.has(kMasks);
  const Ints& kernel = fields.getInts("kernel");
  DeformedArgument deformed = {in.dims[1],
                               in.dims[1] / fields.getInt("offset_groups"),
                               in.dims[2],
                               in.dims[3],
                               offsets.dims[3],
                               kernel[0] * kernel[1],
                               kernel[1],
                               {},
                               {},
                               {}};
  std::copy_n(fields.getInts("stride").begin(), 2, deformed.stride);
  std::copy_n(fields.getInts("padding").begin(), 2, deformed.padding);
  std::copy_n(fields.getInts("dilation").begin(), 2, deformed.dilation);
  Source source;
  source.define("STORED", storedType(in.dtype)).define("C", regionNumber(in.dtype));
  source.define("INDEX", indexType(countOf(out.dims))).define("HAS_MASK", int64_t{has_mask});
  source.include("text/storage.cuh").include("text/rounded.cuh").include("plugins/deform.cuh");
  Arguments arguments;
  arguments.value(countOf(out.dims)).value(out.dims.at(2)).value(deformed);
  arguments.value(imageOf(in)).input(kInput).value(imageOf(offsets)).input(kOffsets);
  layer.add(arguments.value(has_mask ? imageOf(shapes.inputs[kMasks]) : ImageArgument{}), kMasks);
  arguments.value(ImageArgument{out.strides[0], out.strides[1], 0, out.strides[2]}).output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "deformed_columns", geometryFor(countOf(out.dims)), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createDeformedColumns(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "DeformedColumns")) {
    return *refusal;
  }
  return launched(problem, prepareDeformedColumns);
}

}  // namespace torchtrt::cuda
