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

void addActivation(Arguments& arguments, const Layer& layer) {
  arguments.value(layer.attributes.getDouble("eps"));
  addFusedActivation(arguments, layer.attributes);
}

Source sourceOf(const Layer& layer, DType dtype, int64_t rank, int64_t kept, int64_t folded, unsigned threads) {
  Source source;
  defineTypes(source, layer, dtype);
  source.define("RANK", rank).define("KEPT", kept).define("FOLDED", folded);
  source.define("THREADS", static_cast<int64_t>(threads));
  source.define("CENTERED", int64_t{layer.attributes.getString("mode") != "rms"});
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/reduction.cuh");
  source.include("reduction/normalization.cuh");
  return source;
}

std::unique_ptr<kernels::Prepared> prepareBatch(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs.at(kIn);
  const TensorDesc& out = shapes.outputs.at(0);
  Ints channel(out.dims.size(), 0);
  channel.at(1) = 1;
  const Layout layout = collapsed(out.dims, {in.strides, out.strides, channel});
  Arguments arguments;
  arguments.value(layout.count());
  addWalk(arguments, layout.dims, layout.strides[0]);
  arguments.input(kIn);
  addWalk(arguments, layout.dims, layout.strides[1]);
  arguments.output(0);
  addWalk(arguments, layout.dims, layout.strides[2]);
  Ints steps;
  for (const Input input : {kScale, kBias, kMean, kVariance}) {
    steps.push_back(layer.has(input) ? shapes.inputs[input].strides.at(0) : 0);
  }
  arguments.bytes(steps.data(), steps.size() * sizeof(int64_t));
  for (const Input input : {kScale, kBias, kMean, kVariance}) {
    layer.add(arguments, input);
  }
  addActivation(arguments, layer);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(sourceOf(layer, in.dtype, layout.rank(), 0, 0, 32), "normalizeBatch", geometryFor(layout.count()),
                std::move(arguments));
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
  const unsigned threads = threadsOfRow(folded.count());
  Arguments arguments;
  arguments.value(kept.count()).value(folded.count());
  const auto add = [&](size_t which) {
    addWalk(arguments, kept.dims, kept.strides[which]);
    addWalk(arguments, folded.dims, folded.strides[which]);
  };
  add(0);
  arguments.input(kIn);
  add(1);
  arguments.output(0);
  add(2);
  layer.add(arguments, kScale);
  add(3);
  layer.add(arguments, kBias);
  addActivation(arguments, layer);
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(sourceOf(layer, shapes.inputs[kIn].dtype, 0, kept.rank(), folded.rank(), threads), "normalize",
                blocksFor(kept.count(), threads), std::move(arguments));
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
