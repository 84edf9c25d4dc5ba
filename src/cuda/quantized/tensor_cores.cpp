// Products of steps on tensor cores, by matmul/tile_product.cuh. Sums are exact, so that results have the bits of every
// other kernel.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/convolution/operands.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/for_some.h"
#include "cuda/matmul/warpgroup_product.h"
#include "cuda/quantized/finish.h"
#include "cuda/quantized/packed_steps.h"
#include "cuda/quantized/quantized.h"
#include "cuda/quantized/regrouped.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

constexpr size_t kImageRank = 4;
constexpr int64_t kEight = 8;  // results that a thread writes at once
constexpr int64_t kMostRows = int64_t{1} << 24;

// The first factor, and what finishes the sums. Rows of all lie dense.
struct Operands {
  Place a;                         // [rows, depth], or the image of the windows
  std::optional<Windows> windows;  // in bytes
  Place residual, out;             // [rows, columns]
};

// The windows with pairs of bytes as elements.
Windows inPairs(Windows windows, DevicePointer padding) {
  windows.channels /= 2;
  windows.image /= 2;
  windows.y /= 2;
  windows.x /= 2;
  windows.padding = padding;
  return windows;
}

// The product by whole warpgroups; nothing for results that are no bytes, and for windows beside whose image something
// else than zero stands.
std::optional<WarpgroupProduct> warpgroupProductOf(const Layer& layer, const ShapeSet& shapes, PackedSteps& weights,
                                                   const Operands& operands) {
  const bool is_padded = operands.windows && (operands.windows->padding_x != 0 || operands.windows->padding_y != 0);
  const bool are_bytes =
      sizeOf(shapes.outputs.at(0).dtype) == 1 && (!layer.has(kResidual) || sizeOf(shapes.inputs[kResidual].dtype) == 1);
  if (!are_bytes || (is_padded && weights.zeroPoint() != 0)) {
    return std::nullopt;
  }
  WarpgroupProduct product;
  product.dtype = shapes.inputs.at(kSteps).dtype;
  product.columns = weights.columns();
  product.rows = countOf(shapes.outputs[0].dims) / product.columns;
  product.depth = weights.depth();
  if (operands.windows) {
    product.setWindows(*operands.windows, weights.depth() / operands.windows->channels);
  }
  product.a = operands.a;
  product.b = Place::fixed(weights.weights(layer.device));
  product.residual = operands.residual;
  product.out = operands.out;
  return product;
}

void addProduct(Launches& launches, const Layer& layer, const ShapeSet& shapes, PackedSteps& weights,
                const WarpgroupProduct& product, const WarpgroupTile& tile) {
  constexpr int64_t kValueBytes = 3 * 4;  // of warpgroup_steps.cuh
  const Place scale = denseValues(launches, layer, shapes, kScale);
  const Place bias = denseValues(launches, layer, shapes, kBias);
  Source source;
  source.define("HAS_ZERO_POINT", int64_t{weights.zeroPoint() != 0});
  addFinishText(source, layer, shapes, weights.hasSmallSums());
  addWarpgroupText(source, tile, product, kValueBytes);
  source.include("quantized/warpgroup_steps.cuh");
  Arguments arguments;
  addOperands(arguments, tile, product);
  scale.addTo(arguments);
  bias.addTo(arguments);
  arguments.fixed(weights.corrections(layer.device)).value(finishOf(layer, shapes));
  launches.add(source, "product", geometryOf(layer.device, tile, product, kValueBytes), std::move(arguments));
}

void addProduct(Launches& launches, const Layer& layer, const ShapeSet& shapes, PackedSteps& weights,
                const Operands& operands) {
  const CudaDevice& device = layer.device;
  std::optional<Windows> windows;
  if (operands.windows) {
    windows = inPairs(*operands.windows, weights.zeroPoint() == 0 ? 0 : weights.padding(device));
  }
  const int64_t depth = weights.depth() / 2, columns = weights.columns();
  const TiledProduct tiled = {countOf(shapes.outputs.at(0).dims) / columns, columns, depth, windows.has_value()};
  const bool has_byte_residual = !layer.has(kResidual) || sizeOf(shapes.inputs[kResidual].dtype) == 1;
  const Tile& tile = tileForBytes(device, tiled, sizeOf(shapes.outputs[0].dtype) == 1 && has_byte_residual);
  const std::optional<WarpgroupProduct> by_groups = warpgroupProductOf(layer, shapes, weights, operands);
  const std::optional<WarpgroupTile> groups = by_groups ? warpgroupTileFor(device, *by_groups) : std::nullopt;
  if (groups && expectedTime(*groups, *by_groups) < expectedTime(tile, tiled)) {
    addProduct(launches, layer, shapes, weights, *by_groups, *groups);
    return;
  }
  const Place scale = denseValues(launches, layer, shapes, kScale);
  const Place bias = denseValues(launches, layer, shapes, kBias);
  const bool is_constant = layer.isConstant(kScale) && layer.isConstant(kBias) && scale.kind != Place::Kind::kScratch &&
                           bias.kind != Place::Kind::kScratch;
  Source source;
  const bool is_signed = shapes.inputs.at(kSteps).dtype == DType::kInt8;
  source.define("STORED", is_signed ? "SignedPair" : "UnsignedPair").define("SUM", "int");
  source.define("B_IS_CONSTANT", int64_t{is_constant});
  source.define("HAS_ZERO_POINT", int64_t{weights.zeroPoint() != 0});
  addFinishText(source, layer, shapes, weights.hasSmallSums());
  source.include("text/mma.cuh").include("text/byte_pairs.cuh");
  addTileText(source, tile, windows);
  source.include(tile.in_place ? "quantized/own_sums.cuh" : "quantized/met_results.cuh");
  source.include("quantized/tensor_product.cuh");
  Arguments arguments;
  arguments.value(static_cast<int>(tiled.rows)).value(static_cast<int>(columns)).value(static_cast<int>(depth));
  addRows(arguments, windows, depth);
  operands.a.addTo(arguments);
  arguments.value(depth).fixed(weights.weights(device)).fixed(weights.corrections(device));
  scale.addTo(arguments);
  bias.addTo(arguments);
  operands.residual.addTo(arguments);
  operands.out.addTo(arguments);
  arguments.value(finishOf(layer, shapes));
  launches.add(source, "product", geometryOf(tile, tiled), std::move(arguments));
}

// Copies an operand to memory where it lies dense and begins at a chunk, unless it does so.
Place inRows(Launches& launches, const TensorDesc& desc, const Place& place, bool copies) {
  const Ints dense = kernels::denseStrides(desc.dims);
  if (place.kind == Place::Kind::kAbsent || (!copies && lies(desc.dims, desc.strides, false))) {
    return place;
  }
  const Place copy = Place::reserve(launches, countOf(desc.dims), desc.dtype);
  addCopy(launches, desc.dtype, desc.dims, {place, desc.strides}, {copy, dense});
  return copy;
}

std::unique_ptr<Launches> matmul(const Layer& layer, const ShapeSet& shapes, PackedSteps& weights, bool copies) {
  auto launches = std::make_unique<Launches>(layer.device);
  const TensorDesc& out = shapes.outputs.at(0);
  Operands operands;
  operands.a = inRows(*launches, shapes.inputs.at(kSteps), Place::input(layer, kSteps), copies);
  if (layer.has(kResidual)) {
    operands.residual = inRows(*launches, shapes.inputs[kResidual], Place::input(layer, kResidual), copies);
  }
  const bool in_place = !copies && lies(out.dims, out.strides, false);
  operands.out = in_place ? Place::output() : Place::reserve(*launches, countOf(out.dims), out.dtype);
  addProduct(*launches, layer, shapes, weights, operands);
  if (!in_place) {
    addCopy(*launches, out.dtype, out.dims, {operands.out, kernels::denseStrides(out.dims)},
            {Place::output(), out.strides});
  }
  return launches;
}

// True if the image gets other pixels first.
bool isRegrouped(const Ints& filter) {
  return filter[1] % kChunkBytes != 0;
}

std::unique_ptr<Launches> convolution(const Layer& layer, const ShapeSet& shapes, PackedSteps& weights, bool copies) {
  auto launches = std::make_unique<Launches>(layer.device);
  TensorDesc in = shapes.inputs.at(kSteps);
  const TensorDesc& out = shapes.outputs.at(0);
  const Ints& filter = shapes.inputs.at(kWeights).dims;
  Operands operands;
  if (isRegrouped(filter)) {
    const Regrouped image(layer.attributes, filter);
    operands.a = image.add(*launches, shapes, weights.zeroPoint());
    operands.windows = image.windows(out);
  } else {
    const bool lies_so = !copies && hasChannelsInChunks(in, kChunkBytes);
    operands.a = withChannelsLast(*launches, in, Place::input(layer, kSteps), lies_so);
    if (!isPointwise(layer.attributes, filter) || !lies(in.dims, in.strides, true)) {
      operands.windows = windowsOf(layer.attributes, in, filter, out.dims);
    }
  }
  if (layer.has(kResidual)) {
    TensorDesc residual = shapes.inputs[kResidual];
    const bool lies_so = !copies && lies(residual.dims, residual.strides, true);
    operands.residual = withChannelsLast(*launches, residual, Place::input(layer, kResidual), lies_so);
  }
  const bool in_place = !copies && lies(out.dims, out.strides, true);
  operands.out = in_place ? Place::output() : Place::reserve(*launches, countOf(out.dims), out.dtype);
  addProduct(*launches, layer, shapes, weights, operands);
  if (!in_place) {
    addCopy(*launches, out.dtype, out.dims, {operands.out, imageStrides(out.dims, true)},
            {Place::output(), out.strides});
  }
  return launches;
}

using MakeLaunches = std::unique_ptr<Launches> (*)(const Layer& layer, const ShapeSet& shapes, PackedSteps& weights,
                                                   bool copies);

// Null for more rows than the kernel counts.
std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes, PackedSteps& weights,
                                           MakeLaunches make) {
  const int64_t count = countOf(shapes.outputs.at(0).dims);
  if (count == 0) {
    return std::make_unique<Launches>(layer.device);
  }
  if (count / weights.columns() >= kMostRows) {
    return nullptr;
  }
  return whereAligned(make(layer, shapes, weights, false), make(layer, shapes, weights, true), layer.present);
}

// `rearranges`: true if the first launch reads the steps whatever their strides.
kernels::CreateResult create(const kernels::Problem& problem, const std::shared_ptr<PackedSteps>& weights,
                             MakeLaunches make, bool rearranges, Create other) {
  const auto prepared = [weights, make](const Layer& layer, const ShapeSet& shapes) {
    return prepare(layer, shapes, *weights, make);
  };
  if (!areSizesKnown(problem) || countOf(problem.outputs.at(0).dims) / weights->columns() >= kMostRows) {
    return launchedForSome(problem, prepared, {other}, weights->bytes());
  }
  return rearranges ? launched(problem, prepared, static_cast<int>(kSteps))
                    : launchedForSome(problem, prepared, {}, weights->bytes());
}

// The reason against any product of steps on tensor cores.
std::optional<Refusal> refuse(const kernels::Problem& problem, int64_t columns) {
  const kernels::Operand& weights = problem.inputs.at(kWeights);
  if (weights.constant == nullptr) {
    return Refusal{"weights", "packs weights when it is made, and these are computed"};
  }
  if (countOf(weights.dims) <= 0 || columns % kEight != 0) {
    return Refusal{"shape", "takes results in eights"};
  }
  return refuseFusedActivation(*problem.attributes, DType::kFloat32);
}

// The elements of an output's weights by taps, with the channels of one next to each other.
std::vector<int64_t> channelsLast(const Ints& filter) {
  const int64_t channels = filter[1], places = filter[2] * filter[3];
  std::vector<int64_t> steps;
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      steps.push_back(channel * places + place);
    }
  }
  return steps;
}

}  // namespace

kernels::CreateResult createTensorCoreMatmul(const kernels::Problem& problem) {
  const kernels::Operand& weights = problem.inputs.at(kWeights);
  const int64_t depth = weights.dims.at(0), columns = weights.dims.at(1);
  if (std::optional<Refusal> refusal = refuse(problem, columns)) {
    return *refusal;
  }
  if (depth % kChunkBytes != 0) {
    return Refusal{"shape", "takes a depth in sixteens"};
  }
  std::vector<int64_t> steps;
  for (int64_t k = 0; k < depth; ++k) {
    steps.push_back(k * columns);
  }
  const auto packed = std::make_shared<PackedSteps>(static_cast<const int8_t*>(weights.constant), columns, 1, steps,
                                                    zeroPointOf(*problem.attributes));
  return create(problem, packed, matmul, false, createQuantizedMatmul);
}

kernels::CreateResult createTensorCoreConvolution(const kernels::Problem& problem) {
  const kernels::Operand& weights = problem.inputs.at(kWeights);
  const Ints& filter = weights.dims;
  if (std::optional<Refusal> refusal = refuse(problem, filter.at(0))) {
    return *refusal;
  }
  if (filter.size() != kImageRank || problem.attributes->getInt("groups", 1) != 1) {
    return Refusal{"shape", "takes images of one group"};
  }
  const auto packed = std::make_shared<PackedSteps>(
      static_cast<const int8_t*>(weights.constant), filter[0], countOf(filter) / filter[0],
      isRegrouped(filter) ? Regrouped(*problem.attributes, filter).depthSteps() : channelsLast(filter),
      zeroPointOf(*problem.attributes));
  return create(problem, packed, convolution, isRegrouped(filter), createQuantizedConvolution);
}

std::optional<Refusal> leaveToOldDevices(const kernels::Problem& problem) {
  const auto* const device = dynamic_cast<const CudaDevice*>(problem.device);  // null where somebody only asks
  if (device == nullptr || !hasTiles(*device)) {
    return Refusal{"device", "the GPU has no such tensor cores"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
