#include "cuda/pooling/pooling.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/align.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/spatial.h"
#include "cuda/launch/types.h"
#include "cuda/reduction/reduction.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// A tensor as pooling.cuh sees it: the dims before the channels, the channels, and the spatial dims. Missing dims in
// front of the spatial ones have size 1.
struct Images {
  Ints batch, batch_strides;
  int64_t channels = 1;
  std::array<int64_t, 4> strides = {0, 0, 0, 0};  // Image of the text
  Spatial size = {1, 1, 1};

  Images(const TensorDesc& desc, size_t spatial_rank) {
    const auto lead = static_cast<std::ptrdiff_t>(desc.dims.size() - spatial_rank);
    size = spatial({desc.dims.begin() + lead, desc.dims.end()}, 1);
    const Spatial places = spatial({desc.strides.begin() + lead, desc.strides.end()}, 0);
    std::copy(places.begin(), places.end(), strides.begin() + 1);
    if (lead > 0) {
      channels = desc.dims[static_cast<size_t>(lead) - 1];
      strides[0] = desc.strides[static_cast<size_t>(lead) - 1];
      batch.assign(desc.dims.begin(), desc.dims.begin() + lead - 1);
      batch_strides.assign(desc.strides.begin(), desc.strides.begin() + lead - 1);
    }
  }
};

// The channels that a thread takes at once: 16 bytes, where they lie next to each other in both tensors.
int64_t chunkOfChannels(const Images& in, const Images& out, DType dtype) {
  const int64_t chunk = inChunk(sizeOf(dtype));
  bool lies_so = out.channels % chunk == 0;
  for (const Images* const each : {&in, &out}) {
    lies_so = lies_so && each->strides[0] == 1 && keepChunks({each->strides.begin() + 1, each->strides.end()}, chunk) &&
              keepChunks(each->batch_strides, chunk);
  }
  return lies_so ? chunk : 1;
}

// The spatial axes, where adaptive pooling averages over all of them. A thread for each result would read whole images.
std::optional<Ints> averagedAxes(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& out = shapes.outputs.at(0);
  const auto rank = static_cast<int64_t>(out.dims.size());
  Ints axes;
  for (int64_t axis = rank - static_cast<int64_t>(shapes.dimsOf("output_size").size()); axis < rank; ++axis) {
    if (out.dims[static_cast<size_t>(axis)] != 1) {
      return std::nullopt;
    }
    axes.push_back(axis);
  }
  const bool is_average = layer.attributes.getString("op") == "average" && isFloating(out.dtype);
  return is_average ? std::optional(std::move(axes)) : std::nullopt;
}

// Averages over all places of images whose channels lie next to each other. Null where a reduction is faster: for other
// images, and for many.
std::unique_ptr<kernels::Prepared> prepareAverages(const Layer& layer, const ShapeSet& shapes) {
  constexpr int64_t kLanes = 128, kColumns = 4, kMostPlaces = 4096;  // of a block
  constexpr int64_t kEnoughPlaces = 8 * kLanes, kMostInCluster = 8;
  const TensorDesc& desc = shapes.inputs.at(0);
  const size_t rank = shapes.dimsOf("output_size").size();
  const Images in(desc, rank), out(shapes.outputs.at(0), rank);
  const auto spatial_axes = static_cast<std::ptrdiff_t>(rank);
  const Layout places = collapsed({desc.dims.end() - spatial_axes, desc.dims.end()},
                                  {{desc.strides.end() - spatial_axes, desc.strides.end()}});
  const Layout images = collapsed(in.batch, {in.batch_strides, out.batch_strides});
  const int64_t chunk = chunkOfChannels(in, in, desc.dtype);
  if (chunk == 1 || places.rank() != 1 || images.rank() > 1 || images.count() * places.count() * in.channels == 0) {
    return nullptr;
  }
  const int64_t chunks = in.channels / chunk;
  const int64_t blocks = images.count() * ceilDiv(chunks, kColumns);
  int64_t cluster = 1;
  while (layer.device.hasClusters() && cluster < kMostInCluster && places.count() > cluster * kEnoughPlaces) {
    cluster *= 2;
  }
  // The number of images decides, and this kernel adds up in another order than the others.
  if (layer.batch_invariant || blocks >= layer.device.processors() || places.count() > cluster * kMostPlaces) {
    return nullptr;
  }
  const auto stepOf = [&](size_t tensor) { return images.rank() == 0 ? int64_t{0} : images.strides[tensor][0]; };
  Source source;
  const bool is_half = sizeOf(desc.dtype) == 2;
  const size_t shared = static_cast<size_t>(cluster * chunk * kColumns) * (is_half ? sizeof(float) : sizeof(double));
  source.define("STORED", storedType(desc.dtype)).define("A", is_half ? "float" : "double");
  source.define("CHUNK", chunk).define("LANES", kLanes).define("COLUMNS", kColumns);
  source.define("CLUSTER", cluster).define("SHARED_BYTES", static_cast<int64_t>(shared));
  source.include("text/storage.cuh").include("text/chunks.cuh").include("text/inputs.cuh");
  source.include("text/block_memory.cuh").include("text/clusters.cuh").include("pooling/average.cuh");
  Arguments arguments;
  arguments.value(places.count()).value(chunks);
  arguments.value(stepOf(0)).value(places.strides[0][0]).input(0);
  arguments.value(stepOf(1)).value(out.strides[0]).output(0);
  auto launches = std::make_unique<Launches>(layer.device);
  Geometry geometry = blocksFor(blocks * cluster, static_cast<unsigned>(kLanes * kColumns));
  geometry.shared_bytes = static_cast<unsigned>(shared);
  launches->add(source, "average", geometry, std::move(arguments));
  return launches;
}

std::unique_ptr<kernels::Prepared> preparePooling(const Layer& layer, const ShapeSet& shapes, bool adaptive) {
  const Attributes& attributes = layer.attributes;
  const size_t rank = adaptive ? shapes.dimsOf("output_size").size() : attributes.getInts("window").size();
  const bool has_indices = shapes.outputs.size() > 1;
  const Images in(shapes.inputs.at(0), rank), out(shapes.outputs.at(0), rank);
  const Images indices = has_indices ? Images(shapes.outputs[1], rank) : out;
  const DType dtype = shapes.outputs[0].dtype;
  const bool is_average = attributes.getString("op") == "average";
  const int64_t chunk = has_indices ? 1 : chunkOfChannels(in, out, dtype);
  const auto spatialOf = [&](const char* name, int64_t missing) {
    return adaptive ? Spatial{missing, missing, missing} : spatial(attributes.getInts(name), missing);
  };
  const Layout batch = collapsed(out.batch, {in.batch_strides, out.batch_strides, indices.batch_strides});
  Source source;
  source.define("STORED", storedType(dtype))
      .define("AVERAGE", int64_t{is_average})
      .define("ADAPTIVE", int64_t{adaptive})
      .define("INDICES", int64_t{has_indices});
  source.define("CHANNELS_LAST", int64_t{out.strides[0] == 1 && out.channels > 1}).define("BATCH", batch.rank());
  // Small integers have their maximum in 32 bits, several times faster.
  const bool is_narrow = !is_average && !isFloating(dtype) && sizeOf(dtype) < sizeof(int32_t);
  const char* const folded_in = is_average && isFloating(dtype) ? "double" : computedType(dtype);
  source.define("A", is_narrow ? "int" : folded_in).define("STORED_FROM", folded_in);
  source.define("LOWEST", isFloating(dtype) ? "(A)-INFINITY"
                          : is_narrow       ? "(-2147483647 - 1)"
                                            : "(-9223372036854775807LL - 1)");
  source.define("CHUNK", chunk);
  const Spatial window = spatialOf("window", 1);
  constexpr int64_t kFewTaps = 9;
  const bool is_unrolled =
      !is_average && !adaptive && !has_indices && chunk > 1 && window[0] == 1 && window[1] * window[2] <= kFewTaps;
  source.define("TAPS_Y", is_unrolled ? window[1] : 0).define("TAPS_X", is_unrolled ? window[2] : 0);
  source.include("text/storage.cuh").include("text/reduction.cuh").include("text/chunks.cuh");
  source.include("text/inputs.cuh").include("pooling/pooling.cuh");
  const int64_t count = countOf(shapes.outputs[0].dims) / chunk;
  Arguments arguments;
  arguments.value(count).value(out.channels / chunk).value(in.size).value(out.size);
  arguments.value(spatialOf("window", 1)).value(spatialOf("stride", 1)).value(spatialOf("pre_padding", 0));
  arguments.value(spatialOf("post_padding", 0)).value(spatialOf("dilation", 1));
  arguments.value(adaptive ? int64_t{0} : attributes.getInt("divisor", 0));
  arguments.value(int{!adaptive && attributes.getBool("count_include_pad", true)});
  addWalk(arguments, batch.dims, batch.strides[0]);
  arguments.value(in.strides).input(0);
  addWalk(arguments, batch.dims, batch.strides[1]);
  arguments.value(out.strides).output(0);
  addWalk(arguments, batch.dims, batch.strides[2]);
  arguments.value(indices.strides);
  has_indices ? arguments.output(1) : arguments.absent();
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "pool", geometryFor(count), std::move(arguments));
  return launches;
}

kernels::CreateResult create(const kernels::Problem& problem, bool adaptive) {
  return launched(problem, [adaptive](const Layer& layer, const ShapeSet& shapes) {
    const std::optional<Ints> axes = adaptive ? averagedAxes(layer, shapes) : std::nullopt;
    if (!axes) {
      return preparePooling(layer, shapes, adaptive);
    }
    std::unique_ptr<kernels::Prepared> averages = prepareAverages(layer, shapes);
    return averages != nullptr ? std::move(averages) : prepareReduction(layer, shapes, "avg", *axes);
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
