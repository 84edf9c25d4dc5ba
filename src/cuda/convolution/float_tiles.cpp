// Convolutions in float32 where TF32 is not allowed, by matmul/float_product.cuh: channels-last images, whose windows
// are rows of a matrix that nobody writes. cuDNN reorders such images, or computes them slowly.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/align.h"
#include "cuda/convolution/convolution.h"
#include "cuda/convolution/operands.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/for_some.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };
constexpr size_t kRank = 4;
constexpr int64_t kChunk = 4;                // floats that are copied at once
constexpr int64_t kHalves = 2;               // elements of a stage for a float
constexpr int64_t kMost = int64_t{1} << 29;  // rows, and floats along the depth

// The last numbers are of stages and of blocks for which a multiprocessor has registers.
constexpr Tile kTiles[] = {
    {128, 128, 32, 64, 1, 64, 3, 1, 2}, {128, 64, 32, 64, 1, 64, 3, 1, 3}, {64, 64, 32, 32, 1, 64, 3, 1, 4}};

// The time of a tile beside that of the others: blocks that run at once share a multiprocessor's arithmetic. A smaller
// tile reads more from shared memory for each product.
double costOf(const Tile& tile, int64_t rows, int64_t columns) {
  constexpr int64_t kProcessors = 132;  // of an H200, for all GPUs, so that one file serves all
  constexpr double kReading = 2;        // of an operand from shared memory, in multiplications
  const int64_t rounds = ceilDiv(ceilDiv(rows, tile.rows) * ceilDiv(columns, tile.columns), kProcessors);
  const auto area = static_cast<double>(tile.rows * tile.columns);
  const int64_t of_thread_rows = tile.warp_rows / 4, of_thread_columns = tile.warp_columns / 8;
  const auto operands = static_cast<double>(of_thread_rows + of_thread_columns);
  const auto products = static_cast<double>(of_thread_rows * of_thread_columns);
  return static_cast<double>(rounds) * area * (1 + kReading * operands / products);
}

const Tile& tileFor(int64_t rows, int64_t columns) {
  return *std::min_element(std::begin(kTiles), std::end(kTiles), [&](const Tile& a, const Tile& b) {
    return costOf(a, rows, columns) < costOf(b, rows, columns);
  });
}

// With halves of floats as elements.
Windows inHalves(Windows windows) {
  windows.channels *= static_cast<int>(kHalves);
  windows.image *= kHalves;
  windows.y *= kHalves;
  windows.x *= kHalves;
  return windows;
}

// Adds the launches. With `copies`, operands may begin anywhere.
std::unique_ptr<Launches> convolution(const Layer& layer, const ShapeSet& shapes, PackedWeights* weights, bool copies) {
  auto launches = std::make_unique<Launches>(layer.device);
  TensorDesc in = shapes.inputs.at(kIn);
  const TensorDesc& out = shapes.outputs.at(0);
  const Ints& filter = shapes.inputs.at(kFilter).dims;
  const Place image =
      withChannelsLast(*launches, in, Place::input(layer, kIn), hasChannelsInChunks(in, kChunk) && !copies);
  const Place bias = denseValues(*launches, layer, shapes, kBias);
  const Place residual = residualByRows(*launches, layer, shapes, kResidual);
  const bool in_place = lies(out.dims, out.strides, true);
  const Place to = in_place ? Place::output() : Place::reserve(*launches, countOf(out.dims), out.dtype);
  const int64_t columns = filter[0], rows = countOf(out.dims) / columns, depth = countOf(filter) / columns * kHalves;
  std::optional<Windows> windows;
  if (!isPointwise(layer.attributes, filter) || !lies(in.dims, in.strides, true)) {
    windows = inHalves(windowsOf(layer.attributes, in, filter, out.dims));
  }
  const Tile& tile = tileFor(rows, columns);
  Source source;
  source.define("STORED", "unsigned short");
  defineFusedActivation(source, layer.attributes, out.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh");
  addStagingText(source, tile, windows);
  source.include("matmul/float_product.cuh");
  Arguments arguments;
  arguments.value(static_cast<int>(rows)).value(static_cast<int>(columns)).value(static_cast<int>(depth));
  addRows(arguments, windows, depth);
  image.addTo(arguments);
  (weights == nullptr ? Place::input(layer, kFilter) : weights->onDevice(layer.device).place)
      .addTo(arguments.value(depth));
  bias.addTo(arguments);
  residual.addTo(arguments);
  to.addTo(arguments);
  addFusedActivation(arguments, layer.attributes);
  launches->add(source, "product", geometryOf(tile, {rows, columns, depth}), std::move(arguments));
  if (!in_place) {
    addCopy(*launches, out.dtype, out.dims, {to, imageStrides(out.dims, true)}, {Place::output(), out.strides});
  }
  return launches;
}

// Null for more rows than the kernel counts.
std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes, PackedWeights* weights) {
  const int64_t count = countOf(shapes.outputs.at(0).dims);
  if (count == 0) {
    return std::make_unique<Launches>(layer.device);
  }
  if (count / shapes.inputs.at(kFilter).dims[0] >= kMost) {
    return nullptr;
  }
  return whereAligned(convolution(layer, shapes, weights, false), convolution(layer, shapes, weights, true),
                      layer.present);
}

}  // namespace

kernels::CreateResult createFloatTiles(const kernels::Problem& problem) {
  const kernels::Operand &weights = problem.inputs.at(kFilter), &out = problem.outputs.at(0);
  if (out.dtype != DType::kFloat32 || problem.attributes->getBool("tf32", false)) {
    return Refusal{"dtype", "computes float32 that may not be rounded to TF32"};
  }
  if (weights.constant == nullptr) {
    return Refusal{"weights", "packs weights when it is made, and these are computed"};
  }
  if (weights.dims.size() != kRank || problem.attributes->getInt("groups", 1) != 1 || weights.dims[1] % kChunk != 0 ||
      countOf(weights.dims) == 0 || countOf(weights.dims) / weights.dims[0] >= kMost) {
    return Refusal{"shape", "takes images of one group, with channels in fours"};
  }
  if (problem.inputs.size() > kernels::kScale && problem.inputs[kernels::kScale].present) {
    return Refusal{"scale", "multiplies sums with no scale"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, out.dtype)) {
    return *refusal;
  }
  const std::shared_ptr<PackedWeights> packed = PackedWeights::of(problem);
  return launchedForSome(
      problem, [packed](const Layer& layer, const ShapeSet& shapes) { return prepare(layer, shapes, packed.get()); },
      {createCudnnConvolution, createDirectConvolution}, packed == nullptr ? 0 : packed->bytes());
}

}  // namespace torchtrt::cuda
