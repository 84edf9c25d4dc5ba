// Convolutions of images of fewer than eight channels, as the first of a network.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/align.h"
#include "base/check.h"
#include "cuda/convolution/convolution.h"
#include "cuda/convolution/operands.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/table.h"
#include "cuda/launch/types.h"
#include "cuda/matmul/small_product.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };
enum : size_t { kBatch, kChannel, kHeight, kWidth, kRank };

constexpr int64_t kChunk = 8;  // elements that are copied at once

// The elements of a packed place: neighbouring windows of a line must begin at multiples of a chunk.
int64_t elementsOfPlace(int64_t channels, int64_t stride) {
  constexpr int64_t kHalf = kChunk / 2;
  return channels <= kHalf && stride % 2 == 0 ? kHalf : kChunk;
}

// Describes how few_channels.cuh keeps a window in shared memory.
struct PackedWindow {
  int64_t place, chunks, steps;  // elements of a place; chunks of a line; steps of two chunks

  PackedWindow(const Ints& filter, int64_t stride)
      : place(elementsOfPlace(filter[kChannel], stride)),
        chunks(ceilDiv(filter[kWidth] * place, kChunk)),
        steps(ceilDiv(filter[kHeight] * chunks, 2)) {}
};

// Weights [outputs, channels, height, width] as [outputs, steps, 16].
std::vector<std::byte> packed(const kernels::Operand& weights, int64_t stride) {
  const Ints& dims = weights.dims;
  const PackedWindow window(dims, stride);
  const int64_t depth = window.steps * 2 * kChunk, line = window.chunks * kChunk;
  std::vector<uint16_t> result(static_cast<size_t>(dims[0] * depth), 0);
  const auto* from = static_cast<const uint16_t*>(weights.constant);
  for (int64_t output = 0; output < dims[0]; ++output) {
    for (int64_t channel = 0; channel < dims[kChannel]; ++channel) {
      for (int64_t y = 0; y < dims[kHeight]; ++y) {
        for (int64_t x = 0; x < dims[kWidth]; ++x) {
          result[static_cast<size_t>(output * depth + y * line + x * window.place + channel)] = *from++;
        }
      }
    }
  }
  std::vector<std::byte> bytes(result.size() * sizeof(uint16_t));
  std::memcpy(bytes.data(), result.data(), bytes.size());
  return bytes;
}

// Image of the device code.
struct Image {
  int channels, height, width;
  int out_height, out_width, outputs;
  int stride_y, stride_x, padding_y, padding_x, dilation_y;
  int lines, places;
  int packed_lines, packed_places;
  int64_t image, channel, y, x;
};

// Outputs of a block: those that leave the fewest unused.
int64_t columnsFor(int64_t outputs) {
  int64_t best = 64;
  for (const int64_t columns : {48, 32, 16}) {
    if (roundUp(outputs, columns) < roundUp(outputs, best)) {
      best = columns;
    }
  }
  return best;
}

// A convolution of a window and a number of outputs, and what a block of it takes.
class Blocks {
 public:
  Blocks(const Attributes& attributes, const Ints& filter)
      : stride_(attributes.getInts("stride")),
        reach_(attributes.getInts("dilation")[0] * (filter[kHeight] - 1) + 1),
        window_(filter, stride_[1]),
        columns_(columnsFor(filter[0])) {}

  int64_t columns() const {
    return columns_;
  }
  int64_t packedLines(int64_t lines) const {
    return (lines - 1) * stride_[0] + reach_;
  }
  int64_t packedPlaces(int64_t places) const {
    return (places - 1) * stride_[1] + window_.chunks * kChunk / window_.place;
  }
  int64_t sharedBytes(int64_t lines, int64_t places) const {
    constexpr int64_t kStoredBytes = 2, kSumBytes = 4, kRowsOfWarp = 16, kWarps = 8, kApart = 8;
    const int64_t weights = columns_ * (window_.steps * 2 * kChunk + kApart) * kStoredBytes;
    const int64_t sums = kWarps * kRowsOfWarp * (columns_ + kApart / 2) * kSumBytes;
    return weights + sums + packedLines(lines) * packedPlaces(places) * window_.place * kStoredBytes;
  }
  // False if even one line of a block does not fit into the memory of two blocks.
  bool isPossible() const {
    constexpr int64_t kMostSteps = 64;
    return window_.steps <= kMostSteps && sharedBytes(1, kMostPlaces) <= kMostShared;
  }
  // The lines and places of a block for an output of that shape. More lines share what they read; fewer keep every
  // multiprocessor busy.
  std::pair<int64_t, int64_t> of(const Ints& out) const {
    constexpr int64_t kEnoughBlocks = 264, kMostResults = 512;
    const int64_t segments = ceilDiv(out[kWidth], kMostPlaces), places = ceilDiv(out[kWidth], segments);
    const int64_t across = out[kBatch] * segments * ceilDiv(out[kChannel], columns_);
    int64_t lines = 1;
    for (int64_t more = 2; more <= out[kHeight] && more * places <= kMostResults; more *= 2) {
      if (across * ceilDiv(out[kHeight], more) >= kEnoughBlocks && sharedBytes(more, places) <= kMostShared) {
        lines = more;
      }
    }
    return {lines, places};
  }

 private:
  static constexpr int64_t kMostPlaces = 128, kMostShared = int64_t{99} << 10;

  Ints stride_;
  int64_t reach_;
  PackedWindow window_;
  int64_t columns_;
};

std::unique_ptr<Launches> build(const Layer& layer, const ShapeSet& shapes, const Place& weights) {
  const TensorDesc &in = shapes.inputs.at(kIn), &out = shapes.outputs.at(0);
  const Ints& filter = shapes.inputs.at(kFilter).dims;
  const Attributes& attributes = layer.attributes;
  const Ints &stride = attributes.getInts("stride"), &padding = attributes.getInts("pre_padding");
  const PackedWindow window(filter, stride[1]);
  const Blocks blocks(attributes, filter);
  const auto [lines, places] = blocks.of(out.dims);
  // Programs of one text have one size of shared memory.
  constexpr int64_t kGrain = int64_t{8} << 10;
  const int64_t shared = roundUp(blocks.sharedBytes(lines, places), kGrain);
  Source source;
  source.define("STORED", storedType(out.dtype)).define("A", computedType(out.dtype));
  source.define("PLACE", window.place).define("CHUNKS", window.chunks).define("COLUMNS", blocks.columns());
  source.define("KERNEL_H", filter[kHeight]).define("KERNEL_W", filter[kWidth]).define("SHARED_BYTES", shared);
  source.include("text/storage.cuh").include("text/functions.cuh");
  defineScale(source, layer.has(kernels::kScale), out.dtype);
  defineFusedActivation(source, attributes, out.dtype);
  source.include("text/chunks.cuh").include("text/inputs.cuh").include("text/mma.cuh").include("text/staging.cuh");
  source.include("text/block_memory.cuh");
  source.include("convolution/few_channels.cuh");
  const auto number = [](int64_t value) { return static_cast<int>(value); };
  const Image image = {number(in.dims[kChannel]),
                       number(in.dims[kHeight]),
                       number(in.dims[kWidth]),
                       number(out.dims[kHeight]),
                       number(out.dims[kWidth]),
                       number(out.dims[kChannel]),
                       number(stride[0]),
                       number(stride[1]),
                       number(padding[0]),
                       number(padding[1]),
                       number(attributes.getInts("dilation")[0]),
                       number(lines),
                       number(places),
                       number(blocks.packedLines(lines)),
                       number(blocks.packedPlaces(places)),
                       in.strides[kBatch],
                       in.strides[kChannel],
                       in.strides[kHeight],
                       in.strides[kWidth]};
  auto launches = std::make_unique<Launches>(layer.device);
  const bool in_place = lies(out.dims, out.strides, true);
  const Place to = in_place ? Place::output() : Place::reserve(*launches, countOf(out.dims), out.dtype);
  Arguments arguments;
  weights.addTo(arguments.value(image).input(kIn));
  denseValues(*launches, layer, shapes, kernels::kScale).addTo(arguments);
  denseValues(*launches, layer, shapes, kBias).addTo(arguments);
  residualByRows(*launches, layer, shapes, kResidual).addTo(arguments);
  addFusedActivation(to.addTo(arguments), attributes);
  const int64_t parts = out.dims[kBatch] * ceilDiv(out.dims[kHeight], lines) * ceilDiv(out.dims[kWidth], places) *
                        ceilDiv(out.dims[kChannel], blocks.columns());
  Geometry geometry;
  geometry.grid[0] = static_cast<unsigned>(parts);
  geometry.block[0] = 256;
  geometry.shared_bytes = static_cast<unsigned>(shared);
  launches->add(source, "few_channels", geometry, std::move(arguments));
  if (!in_place) {
    addCopy(*launches, out.dtype, out.dims, {to, imageStrides(out.dims, true)}, {Place::output(), out.strides});
  }
  return launches;
}

}  // namespace

kernels::CreateResult createFewChannels(const kernels::Problem& problem) {
  const kernels::Operand &weights = problem.inputs.at(kFilter), &out = problem.outputs.at(0);
  const auto* const device = dynamic_cast<const CudaDevice*>(problem.device);  // null where somebody only asks
  if (device == nullptr || !hasSmallProducts(*device, out.dtype)) {
    return Refusal{"dtype", "tensor cores of this kernel take 16 bits, on GPUs of compute capability 8.0 and newer"};
  }
  if (weights.constant == nullptr) {
    return Refusal{"weights", "packs weights when it is made, and these are computed"};
  }
  if (weights.dims.size() != kRank || weights.dims[kChannel] >= kChunk || weights.dims[0] % kChunk != 0 ||
      problem.attributes->getInt("groups", 1) != 1 || countOf(weights.dims) == 0 ||
      problem.attributes->getInts("dilation")[1] != 1) {
    return Refusal{"shape", "takes images of fewer than eight channels, and outputs in eights"};
  }
  if (!Blocks(*problem.attributes, weights.dims).isPossible()) {
    return Refusal{"shape", "keeps windows in the memory of a block, which is too small for these"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, out.dtype)) {
    return *refusal;
  }
  const auto table =
      std::make_shared<Table>(packed(weights, problem.attributes->getInts("stride")[1]), "weights of a convolution");
  const auto prepare = [table](const Layer& layer, const ShapeSet& shapes) -> std::unique_ptr<kernels::Prepared> {
    if (countOf(shapes.outputs.at(0).dims) == 0) {
      return std::make_unique<Launches>(layer.device);
    }
    const Place weights = Place::fixed(table->onDevice(layer.device));
    return build(layer, shapes, weights);
  };
  return launched(problem, prepare, static_cast<int>(kIn));
}

// cuDNN took 14 us for the first layer of a ResNet-50 at batch 1, and 193 us at batch 32, in float16 on an H200.
std::optional<Refusal> leaveFewChannels(const kernels::Problem& problem) {
  const kernels::Operand &weights = problem.inputs.at(kFilter), &out = problem.outputs.at(0);
  if (out.order.empty() || out.order.back() != kChannel) {
    return Refusal{"slower", "channels of the output do not lie next to each other"};
  }
  if (weights.dims.size() == kRank &&
      problem.attributes->getInts("stride") == Ints(weights.dims.begin() + 2, weights.dims.end())) {
    return Refusal{"slower", "windows lie side by side"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
