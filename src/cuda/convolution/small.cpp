// Convolutions with few results, by the kernel of matmul/small_product.h. Their windows are rows of a matrix that
// nobody writes: each block copies its part of them from the image.
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cuda/convolution/convolution.h"
#include "cuda/convolution/operands.h"
#include "cuda/convolution/weight_product.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/for_some.h"
#include "cuda/matmul/small_product.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };
constexpr size_t kChannel = 1, kRank = 4;

constexpr int64_t kChunk = 8;

bool appliesActivation(const Attributes& attributes) {
  return !attributes.getString("activation", "").empty();
}

// The layer as a product without places, for an image whose channels lie dense, and results that lie dense.
SmallProduct productOf(const Attributes& attributes, const TensorDesc& in, const Ints& filter, const TensorDesc& out) {
  SmallProduct product;
  product.dtype = out.dtype;
  product.columns = filter[0];
  product.rows = countOf(out.dims) / product.columns;
  product.depth = countOf(filter) / product.columns;
  product.a.strides = product.b.strides = {product.depth, 1};
  product.residual.strides = product.out.strides = {product.columns, 1};
  product.bias.strides = product.scale.strides = {1};
  if (!isPointwise(attributes, filter) || !lies(in.dims, in.strides, true)) {
    product.windows = windowsOf(attributes, in, filter, out.dims);
  }
  return product;
}

// Adds the product, or nothing where a library is faster; then it is false. With `copies`, operands may begin anywhere.
bool addProduct(Launches& launches, const Layer& layer, const ShapeSet& shapes, PackedWeights* weights, bool has_other,
                bool copies) {
  TensorDesc in = shapes.inputs.at(kIn);
  const TensorDesc& out = shapes.outputs.at(0);
  const Place x = withChannelsLast(launches, in, Place::input(layer, kIn), hasChannelsInChunks(in, kChunk) && !copies);
  SmallProduct product = productOf(layer.attributes, in, shapes.inputs.at(kFilter).dims, out);
  product.a.place = x;
  product.b.place = weights == nullptr ? Place::input(layer, kFilter) : weights->onDevice(layer.device).place;
  product.bias.place = denseValues(launches, layer, shapes, kBias);
  product.scale.place = denseValues(launches, layer, shapes, kernels::kScale);
  product.residual.place = residualByRows(launches, layer, shapes, kResidual);
  const bool in_place = lies(out.dims, out.strides, true);
  product.out.place = in_place ? Place::output() : Place::reserve(launches, countOf(out.dims), out.dtype);
  const auto isConstant = [&](size_t operand, const Place& place) {
    return layer.isConstant(operand) && place.kind != Place::Kind::kScratch;
  };
  product.b_is_constant = isConstant(kBias, product.bias.place) && isConstant(kernels::kScale, product.scale.place);
  if (has_other && !isSmall(layer.device, product, appliesActivation(layer.attributes))) {
    return false;
  }
  TORCHTRT_CHECK(addSmallProduct(launches, layer, product, copies), "a convolution of chunks that the kernel refuses");
  if (!in_place) {
    addCopy(launches, out.dtype, out.dims, {product.out.place, imageStrides(out.dims, true)},
            {Place::output(), out.strides});
  }
  return true;
}

// Null where a library is faster, unless there is no other kernel.
std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes, PackedWeights* weights,
                                           bool has_other) {
  auto launches = std::make_unique<Launches>(layer.device);
  if (countOf(shapes.outputs.at(0).dims) == 0) {
    return launches;
  }
  if (!addProduct(*launches, layer, shapes, weights, has_other, false)) {
    return nullptr;
  }
  auto copying = std::make_unique<Launches>(layer.device);
  addProduct(*copying, layer, shapes, weights, false, true);
  return whereAligned(std::move(launches), std::move(copying), layer.present);
}

bool liesByChannels(const kernels::Operand& operand) {
  return !operand.order.empty() && operand.order.back() == kChannel;
}

}  // namespace

kernels::CreateResult createSmallConvolution(const kernels::Problem& problem) {
  const kernels::Operand &weights = problem.inputs.at(kFilter), &out = problem.outputs.at(0);
  if (!isFloating(out.dtype) || sizeOf(out.dtype) != 2) {
    return Refusal{"dtype", "tensor cores of this kernel take 16 bits"};
  }
  if (weights.constant == nullptr) {
    return Refusal{"weights", "packs weights when it is made, and these are computed"};
  }
  if (weights.dims.size() != kRank || problem.attributes->getInt("groups", 1) != 1 || weights.dims[0] % kChunk != 0 ||
      weights.dims[1] % kChunk != 0 || countOf(weights.dims) == 0) {
    return Refusal{"shape", "takes images of one group, with channels in eights"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, out.dtype)) {
    return *refusal;
  }
  const std::shared_ptr<PackedWeights> packed = PackedWeights::of(problem);
  const size_t bytes = packed == nullptr ? 0 : packed->bytes();
  std::vector<Create> others;
  if (!areSizesKnown(problem)) {
    others = {createCudnnConvolution, createDirectConvolution};
  }
  const bool has_other = !others.empty();
  return launchedForSome(
      problem,
      [packed, has_other](const Layer& layer, const ShapeSet& shapes) {
        return prepare(layer, shapes, packed.get(), has_other);
      },
      others, bytes);
}

std::optional<Refusal> leaveLargeConvolution(const kernels::Problem& problem) {
  const auto* const device = dynamic_cast<const CudaDevice*>(problem.device);  // null where somebody only asks
  const kernels::Operand &in = problem.inputs.at(kIn), &weights = problem.inputs.at(kFilter),
                         &out = problem.outputs.at(0);
  if (device == nullptr || weights.dims.size() != kRank || countOf(weights.dims) <= 0 || countOf(out.opt_dims) <= 0) {
    return Refusal{"slower", "is no image of a known size"};
  }
  if (!liesByChannels(in) || !liesByChannels(out)) {
    return Refusal{"slower", "channels do not lie next to each other"};
  }
  const auto described = [](const kernels::Operand& operand) {
    return TensorDesc{operand.dtype, operand.opt_dims, imageStrides(operand.opt_dims, true)};
  };
  const SmallProduct product = productOf(*problem.attributes, described(in), weights.dims, described(out));
  if (!isSmall(*device, product, appliesActivation(*problem.attributes))) {
    return Refusal{"slower", "a library computes so many results faster"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
