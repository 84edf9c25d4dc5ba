// Convolutions of one tap without padding as products by cuBLASLt: images whose channels lie next to each other are
// matrices. Bias and residual are its epilogue. An activation is a launch behind, in place, as are all
// three behind a scale.
#include "cuda/convolution/one_tap.h"

#include <utility>

#include "cuda/convolution/convolution.h"
#include "cuda/convolution/operands.h"
#include "cuda/convolution/plan.h"
#include "cuda/convolution/weight_product.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/steps.h"
#include "cuda/matmul/few_rows.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };

bool isOnePlace(const Ints& dims) {
  return areAll({dims.begin() + 2, dims.end()}, 1);
}

bool hasNoPadding(const Attributes& attributes) {
  return areAll(attributes.getInts("pre_padding"), 0) && areAll(attributes.getInts("post_padding"), 0);
}

std::unique_ptr<Launches> multiply(const Layer& layer, const ShapeSet& shapes, const CublasLt& api) {
  const TensorDesc &in = shapes.inputs.at(kIn), &filter = shapes.inputs.at(kFilter), &out = shapes.outputs.at(0);
  const int64_t outputs = filter.dims[0];
  if (countOf(out.dims) == 0 || countOf(filter.dims) == 0 || !readsWeights(layer, shapes)) {
    return nullptr;
  }
  auto launches = std::make_unique<Launches>(layer.device);
  TensorDesc image = in;
  const Place x = withChannelsLast(*launches, image, Place::input(layer, kIn), lies(in.dims, in.strides, true));
  const Place residual = residualByRows(*launches, layer, shapes, kResidual);
  const bool in_place = lies(out.dims, out.strides, true);
  const Place y = in_place ? Place::output() : Place::reserve(*launches, countOf(out.dims), out.dtype);
  if (!addWeightProduct(*launches, layer, shapes, api, {x, residual, y})) {
    return nullptr;
  }
  const bool has_scale = layer.has(kernels::kScale);
  if (has_scale || !layer.attributes.getString("activation", "").empty()) {
    Finish finish;
    finish.dims = {countOf(out.dims) / outputs, outputs};
    finish.sums_dtype = finish.dtype = out.dtype;
    finish.sums = finish.out = {y, {outputs, 1}};
    finish.scale = finish.bias = finish.residual = {Place(), {0, 0}};
    if (has_scale) {  // behind which bias and residual are added
      finish.scale = {denseValues(*launches, layer, shapes, kernels::kScale), {0, 1}};
      finish.bias = {denseValues(*launches, layer, shapes, kBias), {0, layer.has(kBias) ? 1 : 0}};
      finish.residual = {residual, {layer.has(kResidual) ? outputs : 0, layer.has(kResidual) ? 1 : 0}};
    }
    addFinish(*launches, layer, finish);
  }
  if (!in_place) {
    addCopy(*launches, out.dtype, out.dims, {y, imageStrides(out.dims, true)}, {Place::output(), out.strides});
  }
  return launches;
}

}  // namespace

std::unique_ptr<kernels::Prepared> prepareOnePlace(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc &in = shapes.inputs.at(kIn), &filter = shapes.inputs.at(kFilter), &out = shapes.outputs.at(0);
  if (!isOnePlace(in.dims) || !isOnePlace(filter.dims) || !isOnePlace(out.dims) || layer.has(kResidual) ||
      layer.has(kernels::kScale) || layer.attributes.getInt("groups", 1) != 1 || !hasNoPadding(layer.attributes)) {
    return nullptr;
  }
  FewRows product;
  product.dtype = out.dtype;
  product.rows = in.dims[0];
  product.depth = in.dims[1];
  product.columns = out.dims[1];
  product.x = {Place::input(layer, kIn), {in.strides[0], in.strides[1]}};
  product.weights = {Place::input(layer, kFilter), {filter.strides[0], filter.strides[1]}};
  product.bias = {Place::input(layer, kBias), {layer.has(kBias) ? shapes.inputs[kBias].strides.at(0) : 0}};
  product.out = {Place::output(), {out.strides[0], out.strides[1]}};
  return prepareFewRows(layer, product);
}

kernels::CreateResult createOneTap(const kernels::Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype) || sizeOf(dtype) != 2) {
    return Refusal{"dtype", "a matrix multiplication of 16 bits alone is rounded before its activation"};
  }
  if (!isOnePlace(problem.inputs.at(kFilter).dims) || attributes.getInt("groups", 1) != 1 ||
      !hasNoPadding(attributes) || !areAll(attributes.getInts("stride"), 1)) {
    return Refusal{"shape", "has more than one tap, or places that no tap meets"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(attributes, dtype)) {
    return *refusal;
  }
  Refusal missing;
  const CublasLt* const api = libraryFor(problem, findCublasLt, "cuBLASLt", missing);
  if (api == nullptr) {
    return missing;
  }
  return launched(problem, [api](const Layer& layer, const ShapeSet& shapes) {
    if (std::unique_ptr<kernels::Prepared> product = prepareOnePlace(layer, shapes)) {
      return product;
    }
    return productOrDirect(
        layer, shapes, [&] { return multiply(layer, shapes, *api); },
        "cuBLASLt has no algorithm for a convolution of one tap: the kernel \"direct\" runs it");
  });
}

// cuDNN took 4.6 us for each such convolution of MobileNetV3 at batch 1 in float16 on an H100, and cuBLASLt 2.9.
// Activations that cuDNN has are better left to it: a launch behind would cost what the product saves.
std::optional<Refusal> leaveOneTap(const kernels::Problem& problem) {
  const auto channelsLast = [](const kernels::Operand& operand) {
    return !operand.order.empty() && operand.order.back() == 1;
  };
  const bool has_activation = !problem.attributes->getString("activation", "").empty();
  if (dnnActivationOf(*problem.attributes, problem.outputs.at(0).dtype) ||
      (kernels::hasScale(problem) && !has_activation)) {
    return Refusal{"slower", "cuDNN applies the scale and the activation, too"};
  }
  if (!channelsLast(problem.inputs.at(kIn)) || !channelsLast(problem.outputs.at(0))) {
    return Refusal{"slower", "channels do not lie next to each other"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
