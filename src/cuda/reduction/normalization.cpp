#include <algorithm>
#include <string>
#include <utility>

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
  defineFusedActivation(source, layer.attributes, dtype);
}

bool isCentered(const Layer& layer) {
  return layer.attributes.getString("mode") != "rms";
}

constexpr int64_t kEight = 8;  // elements that are read at once

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
  Source source;
  defineTypes(source, layer, in.dtype);
  source.define("RANK", layout.rank()).define("S", sizeOf(in.dtype) == 2 ? "float" : "double");
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/inputs.cuh");
  source.include("reduction/batch.cuh");
  if (is_dense) {
    source.include("text/chunks.cuh").include("reduction/normalization_channels.cuh");
  }
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

// Group of normalization.cuh.
std::vector<std::byte> groupArgument(const Layer& layer, const Layout& kept, const Layout& folded) {
  std::vector<std::byte> bytes;
  const auto add = [&bytes](const void* data, size_t size) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  };
  for (size_t i = 0; i < kept.strides.size(); ++i) {
    for (const Layout* layout : {&kept, &folded}) {
      const Ints walk = walkOf(layout->dims, layout->strides[i]);
      add(walk.data(), walk.size() * sizeof(int64_t));
    }
  }
  for (const char* name : {"eps", "activation_alpha", "activation_beta"}) {
    const double value = layer.attributes.getDouble(name, 0);
    add(&value, sizeof(value));
  }
  return bytes;
}

constexpr int64_t kWarp = 32;

// The values of a row that a lane may take at once: 16 bytes. 1 where rows lie otherwise than normalization_chunks.cuh
// reads them. `kept` and `folded` have input, output, scale and bias.
int64_t chunkOfRows(const Layer& layer, DType dtype, const Layout& kept, const Layout& folded) {
  constexpr int64_t kMostOfLane = 8, kMostRows = 1 << 24;
  const int64_t chunk = inChunk(sizeOf(dtype));
  if (folded.rank() != 1 || folded.count() % chunk != 0 || folded.count() > kMostOfLane * kWarp * chunk ||
      kept.count() > kMostRows) {
    return 1;
  }
  for (const size_t tensor : {size_t{0}, size_t{1}}) {
    const Ints& strides = kept.strides[tensor];
    if (folded.strides[tensor][0] != 1 || !keepChunks(strides, chunk)) {
      return 1;
    }
  }
  for (const auto& [input, tensor] : {std::pair(kScale, size_t{2}), std::pair(kBias, size_t{3})}) {
    const Ints& strides = kept.strides[tensor];
    if (layer.has(input) && (folded.strides[tensor][0] != 1 ||
                             std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride != 0; }))) {
      return 1;
    }
  }
  return chunk;
}

std::unique_ptr<kernels::Prepared> prepareChunks(const Layer& layer, DType dtype, const Layout& kept,
                                                 const Layout& folded, int64_t chunk) {
  const int64_t chunks = folded.count() / chunk;
  Source source;
  defineTypes(source, layer, dtype);
  source.define("KEPT", kept.rank()).define("CHUNK", chunk).define("PER_LANE", (chunks + kWarp - 1) / kWarp);
  source.define("S", sizeOf(dtype) == 2 ? "float" : "double").define("CENTERED", int64_t{isCentered(layer)});
  source.define("SCALES", int64_t{layer.has(kScale)}).define("BIASES", int64_t{layer.has(kBias)});
  const bool are_few = kept.count() < 4 * int64_t{layer.device.processors()};
  source.define("AHEAD", int64_t{are_few && layer.isConstant(kScale) && layer.isConstant(kBias)});
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/reduction.cuh");
  source.include("text/chunks.cuh").include("text/inputs.cuh").include("reduction/normalization_chunks.cuh");
  Arguments arguments;
  arguments.value(static_cast<int>(kept.count())).value(static_cast<int>(chunks));
  addWalk(arguments, kept.dims, kept.strides[0]);
  arguments.input(kIn);
  addWalk(arguments, kept.dims, kept.strides[1]);
  arguments.output(0);
  layer.add(arguments, kScale);
  layer.add(arguments, kBias).value(layer.attributes.getDouble("eps"));
  addFusedActivation(arguments, layer.attributes);
  // Few rows are spread over all processors.
  const int64_t warps = are_few ? 1 : 4;
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "normalizeChunks",
                blocksFor((kept.count() + warps - 1) / warps, static_cast<unsigned>(warps * kWarp)),
                std::move(arguments));
  return launches;
}

// Values that a warp keeps in registers.
constexpr int64_t kShort = 1024;

std::unique_ptr<kernels::Prepared> prepareShort(const Layer& layer, DType dtype, const Layout& kept,
                                                const Layout& folded) {
  constexpr int64_t kWarps = 4;
  Source source;
  defineTypes(source, layer, dtype);
  source.define("KEPT", kept.rank()).define("PER_LANE", (folded.count() + kWarp - 1) / kWarp);
  source.define("S", sizeOf(dtype) == 2 ? "float" : "double").define("CENTERED", int64_t{isCentered(layer)});
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/reduction.cuh");
  source.include("reduction/short_rows.cuh");
  Arguments arguments;
  arguments.value(kept.count()).value(folded.count());
  const auto add = [&](size_t which) {
    addWalk(arguments, kept.dims, kept.strides[which]);
    arguments.value(folded.rank() == 0 ? int64_t{0} : folded.strides[which][0]);
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
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "normalizeShort", blocksFor((kept.count() + kWarps - 1) / kWarps, kWarps * kWarp),
                std::move(arguments));
  return launches;
}

std::unique_ptr<kernels::Prepared> prepareGroups(const Layer& layer, const ShapeSet& shapes) {
  const std::string& mode = layer.attributes.getString("mode");
  const Groups groups = mode == "layer" || mode == "rms" ? lastDims(layer, shapes) : channelGroups(layer, shapes);
  const Layout kept = collapsed(groups.dims.outside,
                                {groups.in.outside, groups.out.outside, groups.scale.outside, groups.bias.outside});
  const Layout folded =
      collapsed(groups.dims.inside, {groups.in.inside, groups.out.inside, groups.scale.inside, groups.bias.inside});
  const DType dtype = shapes.inputs[kIn].dtype;
  const int64_t chunk = kept.count() > 0 ? chunkOfRows(layer, dtype, kept, folded) : 1;
  if (chunk > 1) {
    return prepareChunks(layer, dtype, kept, folded, chunk);
  }
  const bool is_by_column = liesByColumn(kept, folded.strides[0]);
  if (!is_by_column && folded.rank() <= 1 && kept.count() > 0 && folded.count() > 0 && folded.count() <= kShort) {
    return prepareShort(layer, dtype, kept, folded);
  }
  const RowPlan plan = planRows(layer, kept.count(), folded.count(), is_by_column);
  const bool is_centered = isCentered(layer);
  Source source;
  plan.define(source);
  defineTypes(source, layer, dtype);
  source.define("KEPT", kept.rank()).define("FOLDED", folded.rank()).define("CENTERED", int64_t{is_centered});
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/reduction.cuh");
  source.include("text/rows.cuh").include("reduction/normalization.cuh");
  if (plan.isInParts()) {
    source.include("reduction/normalization_parts.cuh");
  }
  const std::vector<std::byte> group = groupArgument(layer, kept, folded);
  const auto addInput = [&](Arguments& arguments) {
    arguments.value(plan.argument).bytes(group.data(), group.size()).input(kIn);
  };
  const auto addOutput = [&](Arguments& arguments) {
    layer.add(arguments, kScale);
    layer.add(arguments, kBias);
    arguments.output(0);
  };
  auto launches = std::make_unique<Launches>(layer.device);
  if (!plan.isInParts()) {
    Arguments arguments;
    addInput(arguments);
    addOutput(arguments);
    launches->add(source, "normalize", plan.geometry, std::move(arguments));
    return launches;
  }
  // The mean's sums, what they left out, and the squares: of each part.
  const int64_t sums = is_centered ? launches->reserve(plan.scratchBytes()) : -1;
  const int64_t rests = is_centered ? launches->reserve(plan.scratchBytes()) : -1;
  const int64_t squares = launches->reserve(plan.scratchBytes());
  const auto addScratch = [](Arguments& arguments, int64_t at) { at < 0 ? arguments.absent() : arguments.scratch(at); };
  if (is_centered) {
    for (const int64_t which : {sums, rests}) {
      Arguments arguments;
      addInput(arguments);
      addScratch(arguments, which == sums ? -1 : sums);
      arguments.scratch(which);
      launches->add(source, "normalize_sums", plan.geometry, std::move(arguments));
    }
  }
  for (const char* name : {"normalize_squares", "normalize_write"}) {
    Arguments arguments;
    addInput(arguments);
    addScratch(arguments, sums);
    addScratch(arguments, rests);
    arguments.scratch(squares);
    if (std::string_view(name) == "normalize_write") {
      addOutput(arguments);
    }
    launches->add(source, name, plan.geometry, std::move(arguments));
  }
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
