// Convolutions of images of fewer than eight channels, as the first of a network. A launch packs the image with zeros
// around it and behind its channels, so that the taps of a line of a window lie next to each other. Then windows are
// rows of a matrix for the kernel of matmul/small_product.h, with one tap for each line.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cuda/convolution/convolution.h"
#include "cuda/convolution/operands.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/table.h"
#include "cuda/matmul/small_product.h"

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

// The elements of a line of a window.
int64_t elementsOfLine(const Ints& filter, int64_t place) {
  return (filter[kWidth] * place + kChunk - 1) / kChunk * kChunk;
}

// Weights [outputs, channels, height, width] as [outputs, height, elements of a line].
std::vector<std::byte> packed(const kernels::Operand& weights, int64_t stride) {
  const Ints& dims = weights.dims;
  const int64_t place = elementsOfPlace(dims[kChannel], stride), line = elementsOfLine(dims, place);
  std::vector<uint16_t> result(static_cast<size_t>(dims[0] * dims[kHeight] * line), 0);
  const auto* from = static_cast<const uint16_t*>(weights.constant);
  for (int64_t output = 0; output < dims[0]; ++output) {
    for (int64_t channel = 0; channel < dims[kChannel]; ++channel) {
      for (int64_t y = 0; y < dims[kHeight]; ++y) {
        for (int64_t x = 0; x < dims[kWidth]; ++x) {
          result[static_cast<size_t>((output * dims[kHeight] + y) * line + x * place + channel)] = *from++;
        }
      }
    }
  }
  std::vector<std::byte> bytes(result.size() * sizeof(uint16_t));
  std::memcpy(bytes.data(), result.data(), bytes.size());
  return bytes;
}

// Packed of the device code.
struct Packed {
  int channels, height, width;
  int packed_height, packed_width, top, left;
  int64_t image, channel, y, x;
};

// Adds the launch that packs the image, and describes its windows to the product.
void addPacked(Launches& launches, const Attributes& attributes, const TensorDesc& in, const Ints& filter,
               const TensorDesc& out, SmallProduct& product) {
  const Ints &stride = attributes.getInts("stride"), &padding = attributes.getInts("pre_padding"),
             &behind = attributes.getInts("post_padding");
  const int64_t place = elementsOfPlace(filter[kChannel], stride[1]), line = elementsOfLine(filter, place);
  const int64_t height = in.dims[kHeight] + padding[0] + behind[0];
  // The last window of a line reads zeros, too, where its elements are more than its taps.
  const int64_t width = std::max(in.dims[kWidth] + padding[1] + behind[1],
                                 (out.dims[kWidth] - 1) * stride[1] + (line + place - 1) / place);
  const int64_t places = in.dims[kBatch] * height * width;
  const auto number = [](int64_t value) { return static_cast<int>(value); };
  product.a.place = Place::reserve(launches, places * place, out.dtype);
  product.a.strides = {line, 1};
  product.windows = Windows{number(line),
                            1,
                            number(height),
                            number(out.dims[kWidth]),
                            number(out.dims[kHeight]),
                            number(out.dims[kWidth]),
                            number(stride[0]),
                            1,
                            0,
                            0,
                            number(attributes.getInts("dilation")[0]),
                            1,
                            height * width * place,
                            width * place,
                            stride[1] * place};
  Source source;
  source.define("PLACE", place);
  source.include("text/storage.cuh").include("text/chunks.cuh").include("text/inputs.cuh");
  source.include("convolution/few_channels.cuh");
  Arguments arguments;
  arguments.value(places).value(Packed{number(in.dims[kChannel]), number(in.dims[kHeight]), number(in.dims[kWidth]),
                                       number(height), number(width), number(padding[0]), number(padding[1]),
                                       in.strides[kBatch], in.strides[kChannel], in.strides[kHeight],
                                       in.strides[kWidth]});
  product.a.place.addTo(arguments.input(kIn));
  launches.add(source, "pack", geometryFor(places), std::move(arguments));
}

std::unique_ptr<Launches> build(const Layer& layer, const ShapeSet& shapes, const Place& weights, bool copies) {
  const TensorDesc& out = shapes.outputs.at(0);
  const Ints& filter = shapes.inputs.at(kFilter).dims;
  auto launches = std::make_unique<Launches>(layer.device);
  SmallProduct product;
  addPacked(*launches, layer.attributes, shapes.inputs.at(kIn), filter, out, product);
  product.dtype = out.dtype;
  product.columns = filter[0];
  product.rows = countOf(out.dims) / product.columns;
  product.depth = filter[kHeight] * product.a.strides[0];
  product.b = {weights, {product.depth, 1}};
  product.bias = {denseBias(*launches, layer, shapes), {1}};
  product.b_is_constant = layer.isConstant(kBias) && product.bias.place.kind != Place::Kind::kScratch;
  product.residual = {residualByRows(*launches, layer, shapes), {product.columns, 1}};
  const bool in_place = lies(out.dims, out.strides, true);
  product.out = {in_place ? Place::output() : Place::reserve(*launches, countOf(out.dims), out.dtype),
                 {product.columns, 1}};
  TORCHTRT_CHECK(addSmallProduct(*launches, layer, product, copies), "a packed image that the kernel refuses");
  if (!in_place) {
    addCopy(*launches, out.dtype, out.dims, {product.out.place, imageStrides(out.dims, true)},
            {Place::output(), out.strides});
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
    return whereAligned(build(layer, shapes, weights, false), build(layer, shapes, weights, true), layer.present);
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
