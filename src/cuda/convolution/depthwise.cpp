// Depthwise convolutions of images whose channels lie next to each other, with bias and activation. Such a convolution
// does little work for each element: cuDNN takes one without either, and another launch would go through memory once
// more.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "cuda/convolution/convolution.h"
#include "cuda/convolution/depthwise_tiles.h"
#include "cuda/convolution/operands.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/table.h"
#include "cuda/launch/types.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };
enum : size_t { kBatch, kChannel, kHeight, kWidth, kRank };

// Size of the device code.
std::array<int, 2> heightAndWidth(int64_t y, int64_t x) {
  return {static_cast<int>(y), static_cast<int>(x)};
}

// Neighbours of a line that a thread takes: several share what they read, where enough threads are left.
int64_t pixelsFor(const CudaDevice& device, const Ints& out, int64_t chunk, int64_t kernel, int64_t stride,
                  int64_t dilation) {
  constexpr int64_t kMostColumns = 12;
  const int64_t wanted = int64_t{device.processors()} * 256;  // threads
  for (const int64_t pixels : {4, 2}) {
    const int64_t columns = (pixels - 1) * stride + (kernel - 1) * dilation + 1;
    const int64_t threads = countOf(out) / chunk / out[kWidth] * ((out[kWidth] + pixels - 1) / pixels);
    if (columns <= kMostColumns && threads >= wanted) {
      return pixels;
    }
  }
  return 1;
}

// True where all windows are on their way at once: then a kernel waits for memory once, and not once for each line of a
// window. A thread takes half a chunk, so that registers hold its window. An H200 took 5 to 8 us for 14 x 14 and 7 x 7
// places line by line.
bool readsAtOnce(const Ints& out, int64_t chunk, int64_t taps) {
  constexpr int64_t kMostTaps = 25, kMostThreads = int64_t{132} * 2048;
  return chunk > 1 && taps <= kMostTaps && countOf(out) / (chunk / 2) <= kMostThreads;
}

std::unique_ptr<Launches> prepareLines(const Layer& layer, const ShapeSet& shapes, DevicePointer weights) {
  const TensorDesc& in = shapes.inputs.at(kIn);
  const TensorDesc& out = shapes.outputs.at(0);
  const Attributes& attributes = layer.attributes;
  const Ints &filter = shapes.inputs.at(kFilter).dims, &stride = attributes.getInts("stride"),
             &dilation = attributes.getInts("dilation"), &padding = attributes.getInts("pre_padding");
  auto launches = std::make_unique<Launches>(layer.device);
  if (countOf(out.dims) == 0) {
    return launches;
  }
  int64_t chunk = chunkOfChannels(in, out);
  const int64_t pixels = pixelsFor(layer.device, out.dims, chunk, filter[kWidth], stride[1], dilation[1]);
  const bool at_once = pixels == 1 && readsAtOnce(out.dims, chunk, filter[kHeight] * filter[kWidth]);
  chunk = at_once ? chunk / 2 : chunk;
  Source source;
  source.define("STORED", storedType(out.dtype)).define("A", computedType(out.dtype));
  source.define("CHUNK", chunk).define("PIXELS", pixels).define("AT_ONCE", int64_t{at_once});
  source.define("KERNEL_H", filter[kHeight]).define("KERNEL_W", filter[kWidth]);
  source.define("STRIDE_H", stride[0]).define("STRIDE_W", stride[1]);
  source.define("DILATION_H", dilation[0]).define("DILATION_W", dilation[1]);
  defineScale(source, layer.has(kernels::kScale), out.dtype);
  defineFusedActivation(source, attributes, out.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/chunks.cuh");
  source.include("text/inputs.cuh").include("convolution/depthwise.cuh");
  const int64_t chunks = out.dims[kChannel] / chunk, parts = (out.dims[kWidth] + pixels - 1) / pixels;
  const int64_t count = out.dims[kBatch] * out.dims[kHeight] * parts * chunks;
  Arguments arguments;
  arguments.value(count).value(chunks).value(parts);
  arguments.value(heightAndWidth(in.dims[kHeight], in.dims[kWidth]))
      .value(heightAndWidth(out.dims[kHeight], out.dims[kWidth]));
  arguments.value(heightAndWidth(padding[0], padding[1]));
  arguments.bytes(in.strides.data(), kRank * sizeof(int64_t)).input(kIn).fixed(weights);
  addValues(arguments, layer, shapes, kernels::kScale);
  addValues(arguments, layer, shapes, kBias).bytes(out.strides.data(), kRank * sizeof(int64_t)).output(0);
  addFusedActivation(arguments, attributes);
  constexpr int64_t kThreads = 128;
  launches->add(source, "depthwise", blocksFor((count + kThreads - 1) / kThreads, kThreads), std::move(arguments));
  return launches;
}

std::unique_ptr<kernels::Prepared> prepareBy(const Layer& layer, const ShapeSet& shapes, DevicePointer weights) {
  std::unique_ptr<Launches> lines = prepareLines(layer, shapes, weights);
  std::unique_ptr<Launches> tiles = prepareDepthwiseTiles(layer, shapes, weights);
  if (tiles == nullptr) {
    return lines;
  }
  return whereAligned(std::move(tiles), std::move(lines), layer.present);
}

// Weights [channels, 1, height, width] as [height, width, channels].
std::vector<std::byte> packed(const kernels::Operand& weights) {
  const int64_t channels = weights.dims[0], taps = countOf(weights.dims) / channels;
  const size_t size = sizeOf(weights.dtype);
  std::vector<std::byte> result(static_cast<size_t>(channels * taps) * size);
  const auto* const from = static_cast<const std::byte*>(weights.constant);
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      std::memcpy(result.data() + static_cast<size_t>(tap * channels + channel) * size,
                  from + static_cast<size_t>(channel * taps + tap) * size, size);
    }
  }
  return result;
}

class DepthwiseKernel final : public kernels::Kernel {
 public:
  explicit DepthwiseKernel(const kernels::Problem& problem)
      : weights_(packed(problem.inputs.at(kFilter)), "weights of a convolution"),
        inner_(problem, [this](const Layer& layer, const ShapeSet& shapes) {
          return prepareBy(layer, shapes, weights_.onDevice(layer.device));
        }) {}

  std::unique_ptr<kernels::Prepared> prepare(const ShapeSet& shapes) const override {
    return inner_.prepare(shapes);
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return inner_.acceptsStrides(input, desc);
  }
  bool needsConstant(int input) const override {
    return input != static_cast<int>(kFilter);
  }
  size_t packedBytes() const override {
    return weights_.bytes();
  }

 private:
  mutable Table weights_;
  LaunchKernel inner_;
};

}  // namespace

kernels::CreateResult createDepthwise(const kernels::Problem& problem) {
  const kernels::Operand& weights = problem.inputs.at(kFilter);
  const DType dtype = problem.outputs.at(0).dtype;
  if (weights.dims.size() != kRank || weights.dims[1] != 1 || weights.dims[0] < 2 || countOf(weights.dims) == 0 ||
      problem.attributes->getInt("groups", 1) != weights.dims[0]) {
    return Refusal{"groups", "convolves images, each channel by one filter of its own"};
  }
  if (weights.constant == nullptr) {
    return Refusal{"weights", "packs weights when it is made, and these are computed"};
  }
  if (problem.inputs.size() > kResidual && problem.inputs[kResidual].present) {
    return Refusal{"epilogue", "adds a bias and nothing else"};
  }
  if (!isFloating(dtype)) {
    return Refusal{"dtype", "convolves no " + std::string(toString(dtype))};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, dtype)) {
    return *refusal;
  }
  return std::make_unique<DepthwiseKernel>(problem);
}

std::optional<Refusal> leaveDepthwise(const kernels::Problem& problem) {
  constexpr int64_t kMostTaps = 81;
  const std::vector<uint8_t>& order = problem.outputs.at(0).order;
  const Ints& weights = problem.inputs.at(kFilter).dims;
  if (weights.size() == kRank && weights[kHeight] * weights[kWidth] > kMostTaps) {
    return Refusal{"slower", "a thread would read large windows one tap after the other"};
  }
  if (order.empty() || order.back() != kChannel) {
    return Refusal{"slower", "channels do not lie next to each other"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
