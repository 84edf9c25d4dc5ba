// Convolutions whose windows lie side by side, as those that cut an image into patches. The image is rearranged to a
// matrix with a row for each window, and cuBLASLt multiplies it by the weights as they are.
#include <string>
#include <utility>

#include "cuda/convolution/convolution.h"
#include "cuda/convolution/weight_product.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/steps.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };

// The image as [batch, places of windows, channels, places within a window].
struct Windows {
  Ints dims, strides;

  Windows(const TensorDesc& in, const TensorDesc& filter, const TensorDesc& out) {
    const auto append = [this](int64_t dim, int64_t stride) {
      dims.push_back(dim);
      strides.push_back(stride);
    };
    append(in.dims[0], in.strides[0]);
    for (size_t axis = 2; axis < in.dims.size(); ++axis) {
      append(out.dims[axis], in.strides[axis] * filter.dims[axis]);
    }
    for (size_t axis = 1; axis < in.dims.size(); ++axis) {
      append(filter.dims[axis], in.strides[axis]);
    }
  }
};

// Null where the output lies otherwise than a row for each window, or the library has no algorithm.
std::unique_ptr<Launches> multiply(const Layer& layer, const ShapeSet& shapes, const CublasLt& api) {
  const TensorDesc& filter = shapes.inputs.at(kFilter);
  const TensorDesc& out = shapes.outputs.at(0);
  if (countOf(out.dims) == 0 || countOf(filter.dims) == 0 || !lies(out.dims, out.strides, true) ||
      !readsWeights(layer, shapes)) {
    return nullptr;
  }
  auto launches = std::make_unique<Launches>(layer.device);
  const Windows windows(shapes.inputs.at(kIn), filter, out);
  const Place patches = Place::reserve(*launches, countOf(windows.dims), out.dtype);
  addCopy(*launches, out.dtype, windows.dims, {Place::input(layer, kIn), windows.strides},
          {patches, kernels::denseStrides(windows.dims)});
  return addWeightProduct(*launches, layer, shapes, api, {patches, Place(), Place::output()}) ? std::move(launches)
                                                                                              : nullptr;
}

// Returns the reason if windows of this layer cannot become rows of a matrix.
std::optional<Refusal> refuse(const kernels::Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  const kernels::Operand& filter = problem.inputs.at(kFilter);
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype)) {
    return Refusal{"dtype", "cuBLASLt multiplies no " + std::string(toString(dtype)) + " here"};
  }
  if (attributes.getInt("groups", 1) != 1 || !areAll(attributes.getInts("pre_padding"), 0) ||
      !areAll(attributes.getInts("post_padding"), 0) || !areAll(attributes.getInts("dilation"), 1) ||
      attributes.getInts("stride") != Ints(filter.dims.begin() + 2, filter.dims.end())) {
    return Refusal{"shape", "windows do not lie side by side"};
  }
  if (!attributes.getString("activation", "").empty() || kernels::hasScale(problem) ||
      (problem.inputs.size() > kResidual && problem.inputs[kResidual].present)) {
    return Refusal{"epilogue", "a matrix multiplication adds a bias and nothing else here"};
  }
  return std::nullopt;
}

}  // namespace

kernels::CreateResult createPatches(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuse(problem)) {
    return *refusal;
  }
  Refusal missing;
  const CublasLt* const api = libraryFor(problem, findCublasLt, "cuBLASLt", missing);
  if (api == nullptr) {
    return missing;
  }
  const auto prepare = [api](const Layer& layer, const ShapeSet& shapes) {
    return productOrDirect(
        layer, shapes, [&] { return multiply(layer, shapes, *api); },
        "cuBLASLt multiplies no patches of these shapes: the kernel \"direct\" runs the convolution");
  };
  return launched(problem, prepare, static_cast<int>(kIn));
}

// cuDNN's tensor cores want channels in eights. It took 316 us for 32 images of 3 x 224 x 224 and windows of 16 x 16,
// as ViT has, in float16 on an H100.
std::optional<Refusal> leavePatches(const kernels::Problem& problem) {
  constexpr int64_t kFewChannels = 8;
  const std::vector<uint8_t>& order = problem.outputs.at(0).order;
  if (problem.inputs.at(kFilter).dims[1] >= kFewChannels) {
    return Refusal{"slower", "cuDNN is faster for many channels"};
  }
  if (order.empty() || order.back() != 1) {
    return Refusal{"slower", "the output does not have a row for each window"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
