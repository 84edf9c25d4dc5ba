#include <algorithm>
#include <string>

#include "cuda/launch/activation.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/types.h"
#include "cuda/reduction/reduction.h"
#include "cuda/reduction/rows.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum Input : size_t { kIn, kScale, kBias, kMean, kVariance };

void defineTypes(Source& source, const Layer& layer, DType dtype) {
  source.define("STORED", storedType(dtype)).define("C", computedType(dtype));
  defineFusedActivation(source, layer.attributes);
}

constexpr int64_t kWarp = 32;
constexpr int64_t kEight = 8;     // elements that are read at once
constexpr int64_t kShort = 1024;  // values that a warp keeps in registers

struct Ranks {
  int64_t all, kept, folded;
};

Source sourceOf(const Layer& layer, DType dtype, Ranks ranks, unsigned threads, int64_t length, bool is_dense = false) {
  Source source;
  defineTypes(source, layer, dtype);
  source.define("RANK", ranks.all).define("KEPT", ranks.kept).define("FOLDED", ranks.folded);
  source.define("THREADS", static_cast<int64_t>(threads));
  source.define("PER_LANE", (std::clamp<int64_t>(length, 1, kShort) + kWarp - 1) / kWarp);
  source.define("S", sizeOf(dtype) == 2 ? "float" : "double");
  source.define("CENTERED", int64_t{layer.attributes.getString("mode") != "rms"});
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/reduction.cuh");
  source.include("reduction/normalization.cuh");
  if (is_dense) {
    source.include("reduction/normalization_channels.cuh");
  }
  return source;
}

// True for 16-bit elements [places, channels], dense in input and output; `layout` has input, channel and output.
bool liesByEights(const Layout& layout, DType dtype) {
  if (sizeOf(dtype) != 2 || layout.rank() != 2 || layout.dims[1] % kEight != 0 || layout.strides[1] != Ints{0, 1}) {
    return false;
  }
  const Ints dense = {layout.dims[1], 1};
  return layout.strides[0] == dense && layout.strides[2] == dense;
}

std::unique_ptr<kernels::Prepared> prepareBatch(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(kIn);
  const TensorDesc& out = shapes.outputs.at(0);
  Ints channel(out.dims.size(), 0);
  channel.at(1) = 1;
  const Layout layout = collapsedInAnyOrder(out.dims, {in.strides, channel, out.strides});
  const bool is_dense = liesByEights(layout, in.dtype);
  const Source source = sourceOf(layer, in.dtype, {layout.rank(), 0, 0}, kWarp, kWarp, is_dense);
  auto launches = std::make_unique<Launches>(layer.device);
  const int64_t channels = out.dims[1];
  const size_t line = 2 * (sizeOf(in.dtype) == 2 ? sizeof(float) : sizeof(double));
  const int64_t lines = launches->reserve(static_cast<size_t>(channels) * line);
  Ints steps;
  for (const Input input : {kScale, kBias, kMean, kVariance}) {
    steps.push_back(layer.has(input) ? shapes.inputs[input].strides.at(0) : 0);
  }
  Arguments of_channels;
  of_channels.value(channels).bytes(steps.data(), steps.size() * sizeof(int64_t));
  for (const Input input : {kScale, kBias, kMean, kVariance}) {
    layer.add(of_channels, input);
  }
  of_channels.value(layer.attributes.getDouble("eps")).scratch(lines);
  launches->add(source, "linesOfChannels", geometryFor(channels), std::move(of_channels));
  Arguments arguments;
  if (is_dense) {
    arguments.value(layout.count() / kEight).value(channels).input(kIn).scratch(lines);
    addFusedActivation(arguments.output(0), layer.attributes);
    launches->add(source, "normalizeChannels", geometryFor(layout.count() / kEight), std::move(arguments));
    return launches;
  }
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.input(kIn);
  addWalk(arguments, layout.dims, layout.strides[1]);
  arguments.scratch(lines);
  addWalk(arguments, layout.dims, layout.strides[2]);
  addFusedActivation(arguments.output(0), layer.attributes);
  launches->add(source, "normalizeBatch", geometryFor(layout.count()), std::move(arguments));
  return launches;
}

// Dims and strides of the groups of values that are normalized together.
struct Groups {
  Cut dims, in, out, scale, bias;
};

// The last dims; scale and bias have their shape and lie row-major.
Groups lastDims(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(kIn);
  const auto rank = static_cast<int64_t>(in.dims.size());
  Ints axes;
  for (int64_t axis = rank - layer.attributes.getInt("normalized_rank", 1); axis < rank; ++axis) {
    axes.push_back(axis);
  }
  const Cut dims = cutAt(in.dims, axes);
  const auto parameter = [&](Input input) {
    const Ints inside =
        layer.has(input) ? broadcastStrides(shapes.inputs[input], dims.inside) : Ints(dims.inside.size(), 0);
    return Cut{Ints(dims.outside.size(), 0), inside};
  };
  return {dims, cutAt(in.strides, axes), cutAt(shapes.outputs.at(0).strides, axes), parameter(kScale),
          parameter(kBias)};
}

// Groups of channels, with all their places; scale and bias are of channels.
Groups channelGroups(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(kIn);
  const int64_t channels = in.dims.at(1);
  const int64_t count =
      layer.attributes.getString("mode") == "instance" ? channels : layer.attributes.getInt("groups", 1);
  const int64_t size = count == 0 ? 0 : channels / count;
  const auto cut = [size](const Ints& strides) {
    Cut result{{strides[0], strides[1] * size}, {strides[1]}};
    result.inside.insert(result.inside.end(), strides.begin() + 2, strides.end());
    return result;
  };
  const auto parameter = [&](Input input) {
    Ints strides(in.dims.size(), 0);
    strides[1] = layer.has(input) ? shapes.inputs[input].strides.at(0) : 0;
    return cut(strides);
  };
  Groups groups{{{in.dims[0], count}, {size}},
                cut(in.strides),
                cut(shapes.outputs.at(0).strides),
                parameter(kScale),
                parameter(kBias)};
  groups.dims.inside.insert(groups.dims.inside.end(), in.dims.begin() + 2, in.dims.end());
  return groups;
}

std::unique_ptr<kernels::Prepared> prepareGroups(const Layer& layer, const ShapeSet& shapes) {
  const std::string& mode = layer.attributes.getString("mode");
  const Groups groups = mode == "layer" || mode == "rms" ? lastDims(layer, shapes) : channelGroups(layer, shapes);
  const Layout kept = collapsed(groups.dims.outside,
                                {groups.in.outside, groups.out.outside, groups.scale.outside, groups.bias.outside});
  const Layout folded =
      collapsed(groups.dims.inside, {groups.in.inside, groups.out.inside, groups.scale.inside, groups.bias.inside});
  const bool is_short = folded.rank() <= 1 && folded.count() <= kShort && folded.count() > 0 && kept.count() > 0;
  Arguments arguments;
  arguments.value(kept.count()).value(folded.count());
  const auto add = [&](size_t which) {
    addWalk(arguments, kept.dims, kept.strides[which]);
    if (is_short) {
      arguments.value(folded.rank() == 0 ? int64_t{0} : folded.strides[which][0]);
    } else {
      addWalk(arguments, folded.dims, folded.strides[which]);
    }
  };
  add(0);
  arguments.input(kIn);
  add(1);
  arguments.output(0);
  add(2);
  layer.add(arguments, kScale);
  add(3);
  layer.add(arguments, kBias).value(layer.attributes.getDouble("eps"));
  addFusedActivation(arguments, layer.attributes);
  constexpr unsigned kWarps = 4;
  const unsigned threads = is_short ? kWarps * kWarp : threadsOfRow(folded.count());
  const Source source =
      sourceOf(layer, shapes.inputs[kIn].dtype, {0, kept.rank(), folded.rank()}, threads, folded.count());
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, is_short ? "normalizeShort" : "normalize",
                blocksFor(is_short ? (kept.count() + kWarps - 1) / kWarps : kept.count(), threads),
                std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createNormalization(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, problem.inputs.at(0).dtype)) {
    return *refusal;
  }
  return launched(problem, problem.attributes->getString("mode") == "batch" ? prepareBatch : prepareGroups);
}

}  // namespace torchtrt::cuda
