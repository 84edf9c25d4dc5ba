#include "cuda/pooling/pooling.h"

#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/spatial.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// Two dims in front of the spatial ones: of more the leading ones are pooled alike, of fewer some are added.
struct Images {
  Ints dims, strides;
};

Images imagesOf(const TensorDesc& desc, size_t spatial_rank) {
  Images images{desc.dims, desc.strides};
  while (images.dims.size() < spatial_rank + 2) {
    images.dims.insert(images.dims.begin(), 1);
    images.strides.insert(images.strides.begin(), 0);
  }
  return images;
}

std::unique_ptr<kernels::Prepared> preparePooling(const Layer& layer, const ShapeSet& shapes, bool adaptive) {
  const Attributes& attributes = layer.attributes;
  const size_t rank = adaptive ? shapes.dimsOf("output_size").size() : attributes.getInts("window").size();
  const Images in = imagesOf(shapes.inputs.at(0), rank);
  const Images out = imagesOf(shapes.outputs.at(0), rank);
  const DType dtype = shapes.outputs[0].dtype;
  const bool is_average = attributes.getString("op") == "average";
  const auto spatialOf = [&](const char* name, int64_t missing) {
    return adaptive ? Spatial{missing, missing, missing} : spatial(attributes.getInts(name), missing);
  };
  Source source;
  source.define("STORED", storedType(dtype))
      .define("AVERAGE", int64_t{is_average})
      .define("ADAPTIVE", int64_t{adaptive});
  source.define("CHANNELS_LAST", int64_t{out.strides.at(1) == 1 && out.dims[1] > 1});
  source.define("A", is_average ? "double" : computedType(dtype));
  source.define("LOWEST", isFloating(dtype) ? "(A)-INFINITY" : "(-9223372036854775807LL - 1)");
  source.include("text/storage.cuh").include("text/reduction.cuh").include("pooling/pooling.cuh");
  Arguments arguments;
  arguments.value(countOf(out.dims)).value(out.dims.at(1));
  arguments.value(sizeOfImage(in.dims)).value(sizeOfImage(out.dims));
  arguments.value(spatialOf("window", 1)).value(spatialOf("stride", 1)).value(spatialOf("pre_padding", 0));
  arguments.value(spatialOf("post_padding", 0)).value(spatialOf("dilation", 1));
  arguments.value(adaptive ? int64_t{0} : attributes.getInt("divisor", 0));
  arguments.value(int{!adaptive && attributes.getBool("count_include_pad", true)});
  arguments.value(imageOf(in.strides)).input(0).value(imageOf(out.strides)).output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "pool", geometryFor(countOf(out.dims)), std::move(arguments));
  return launches;
}

kernels::CreateResult create(const kernels::Problem& problem, bool adaptive) {
  const kernels::Operand& in = problem.inputs.at(0);
  if (problem.outputs.size() > 1) {
    return Refusal{"indices", "gives no positions of maxima"};
  }
  const size_t spatial_rank = adaptive ? 0 : problem.attributes->getInts("window").size();
  if (in.dims.size() > 5 || (!adaptive && in.dims.size() > spatial_rank + 2)) {
    return Refusal{"rank", "takes two dims in front of the spatial ones"};
  }
  if (!isFloating(in.dtype) && problem.attributes->getString("op") == "average") {
    return Refusal{"dtype", std::string("has no average of ") + toString(in.dtype)};
  }
  return launched(problem, [adaptive](const Layer& layer, const ShapeSet& shapes) {
    return preparePooling(layer, shapes, adaptive);
  });
}

}  // namespace

kernels::CreateResult createPooling(const kernels::Problem& problem) {
  return create(problem, false);
}

kernels::CreateResult createAdaptivePooling(const kernels::Problem& problem) {
  return create(problem, true);
}

}  // namespace torchtrt::cuda
