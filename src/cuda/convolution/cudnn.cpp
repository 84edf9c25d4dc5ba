// Convolutions and deconvolutions by cuDNN. Scale, bias, residual and activation are part of its graph where an engine
// computes them; else a launch behind it does. Operands that lie otherwise than its engines read them are copied.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cuda/convolution/convolution.h"
#include "cuda/convolution/direct.h"
#include "cuda/convolution/one_tap.h"
#include "cuda/convolution/operands.h"
#include "cuda/convolution/plan.h"
#include "cuda/convolution/weights.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/ways.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias, kResidual };

// Two or three places: those of one dim get another one in front.
Ints withTwoPlaces(Ints values, size_t lead, int64_t missing) {
  if (values.size() == lead + 1) {
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(lead), missing);
  }
  return values;
}

// One way to compute the layer.
class Attempt {
 public:
  Attempt(const Layer& layer, const ShapeSet& shapes, const Strided& weights, const Cudnn& api, bool transposed,
          bool channels_last)
      : layer_(layer),
        shapes_(shapes),
        api_(api),
        dtype_(shapes.outputs.at(0).dtype),
        channels_last_(channels_last),
        launches_(std::make_unique<Launches>(layer.device)) {
    problem_.is_transposed = transposed;
    problem_.tf32 = layer.attributes.getBool("tf32", false);
    const auto spatial = [&](const char* name, int64_t missing) {
      return withTwoPlaces(layer.attributes.getInts(name), 0, missing);
    };
    problem_.stride = spatial("stride", 1);
    problem_.pre_padding = spatial("pre_padding", 0);
    problem_.post_padding = spatial("post_padding", 0);
    problem_.dilation = spatial("dilation", 1);
    x_ = readable(problem_.x, shapes.inputs.at(kIn), Place::input(layer, kIn));
    TensorDesc filter = shapes.inputs.at(kFilter);
    filter.strides = weights.strides;
    weights_ = readable(problem_.weights, filter, weights.place);
  }

  // The library writes the output. Null where its graph cannot be the layer. An activation that it does not have is a
  // launch behind, in place: of 16 bits the sum is rounded before, as PyTorch does. Sums in float32 would be twice the
  // traffic.
  std::unique_ptr<Launches> fused(bool activates_behind) {
    const std::string name = layer_.attributes.getString("activation", "");
    if (!activates_behind) {
      problem_.activation = dnnActivationOf(layer_.attributes, dtype_);
    }
    if (!name.empty() && !problem_.activation && !activates_behind) {
      return nullptr;
    }
    problem_.scales = layer_.has(kernels::kScale);
    problem_.adds_bias = layer_.has(kBias);
    problem_.adds_residual = hasResidual();
    const Place bias = denseValues(*launches_, layer_, shapes_, kBias);
    const Place scale = denseValues(*launches_, layer_, shapes_, kernels::kScale);
    Place residual;
    if (problem_.adds_residual) {
      DnnTensor like;
      residual = readable(like, shapes_.inputs[kResidual], Place::input(layer_, kResidual));
    }
    const TensorDesc& out = shapes_.outputs[0];
    problem_.y = tensorOf(out.dims, dtype_);
    const Ints strides = withTwoPlaces(out.strides, 2, 0);
    const bool in_place = lies(problem_.y.dims, strides, channels_last_);
    const Place y = in_place ? Place::output() : Place::reserve(*launches_, countOf(out.dims), dtype_);
    if (!convolve(y, bias, residual, scale)) {
      return nullptr;
    }
    if (!name.empty() && !problem_.activation) {
      finish(y, dtype_, false);
    } else if (!in_place) {
      addCopy(*launches_, dtype_, problem_.y.dims, {y, problem_.y.strides}, {Place::output(), strides});
    }
    return std::move(launches_);
  }

  // The library writes sums to scratch memory, as elements of that type, and a launch behind does the rest.
  std::unique_ptr<Launches> inTwoSteps(DType sums) {
    const TensorDesc& out = shapes_.outputs[0];
    problem_.y = tensorOf(out.dims, sums);
    const Place y = Place::reserve(*launches_, countOf(out.dims), sums);
    if (!convolve(y, {}, {}, {})) {
      return nullptr;
    }
    finish(y, sums, true);
    return std::move(launches_);
  }

 private:
  bool hasResidual() const {
    return !problem_.is_transposed && layer_.has(kResidual);
  }
  DnnTensor tensorOf(const Ints& dims, DType dtype) const {
    DnnTensor tensor{dtype, withTwoPlaces(dims, 2, 1), {}};
    tensor.strides = imageStrides(tensor.dims, channels_last_);
    return tensor;
  }

  // Returns the place of an operand as the library reads it. Adds a copy if the operand lies otherwise.
  Place readable(DnnTensor& tensor, const TensorDesc& desc, const Place& place) {
    tensor = tensorOf(desc.dims, desc.dtype);
    const Ints strides = withTwoPlaces(desc.strides, 2, 0);
    if (lies(tensor.dims, strides, channels_last_)) {
      return place;
    }
    const Place copy = Place::reserve(*launches_, countOf(desc.dims), desc.dtype);
    addCopy(*launches_, desc.dtype, tensor.dims, {place, strides}, {copy, tensor.strides});
    return copy;
  }

  // A launch that applies the activation to what lies at y, and before that scales, and adds bias and residual.
  void finish(const Place& y, DType sums, bool adds) {
    const TensorDesc& out = shapes_.outputs[0];
    Finish finish;
    finish.sums_dtype = sums;
    finish.dtype = dtype_;
    const Ints none(problem_.y.dims.size(), 0);
    const auto ofChannels = [&](size_t operand) {
      Strided values{Place(), none};
      if (adds && layer_.has(operand)) {
        values = {Place::input(layer_, operand), none};
        values.strides[1] = shapes_.inputs[operand].strides.at(0);
      }
      return values;
    };
    const bool adds_residual = adds && hasResidual();
    finish.dims = problem_.y.dims;
    finish.sums = {y, problem_.y.strides};
    finish.scale = ofChannels(kernels::kScale);
    finish.bias = ofChannels(kBias);
    finish.residual = {adds_residual ? Place::input(layer_, kResidual) : Place(),
                       adds_residual ? withTwoPlaces(shapes_.inputs[kResidual].strides, 2, 0) : none};
    finish.out = {Place::output(), withTwoPlaces(out.strides, 2, 0)};
    if (channels_last_) {  // threads go along the channels
      for (Ints* const each : {&finish.dims, &finish.sums.strides, &finish.scale.strides, &finish.bias.strides,
                               &finish.residual.strides, &finish.out.strides}) {
        std::rotate(each->begin() + 1, each->begin() + 2, each->end());
      }
    }
    addFinish(*launches_, layer_, finish);
  }

  bool convolve(const Place& y, const Place& bias, const Place& residual, const Place& scale) {
    if (!layer_.device.isHere()) {
      return true;
    }
    const std::shared_ptr<const DnnPlan> plan = planOf(layer_.device, api_, problem_);
    if (plan == nullptr) {
      return false;
    }
    Arguments arguments;
    for (const Place& each : {x_, weights_, y, bias, residual, scale}) {
      each.addTo(arguments);
    }
    arguments.scratch(launches_->reserve(plan->workspaceBytes()));
    launches_->add(plan, std::move(arguments));
    return true;
  }

  const Layer& layer_;
  const ShapeSet& shapes_;
  const Cudnn& api_;
  DType dtype_;
  bool channels_last_;
  std::unique_ptr<Launches> launches_;
  DnnProblem problem_;
  Place x_, weights_;
};

class CudnnKernel final : public kernels::Kernel {
 public:
  CudnnKernel(const kernels::Problem& problem, const Cudnn& api, bool transposed)
      : api_(api),
        transposed_(transposed),
        packed_(writesChannelsLast(problem) ? PackedWeights::of(problem) : nullptr),
        inner_(problem, [this](const Layer& layer, const ShapeSet& shapes) { return prepareBy(layer, shapes); }) {}

  std::unique_ptr<kernels::Prepared> prepare(const ShapeSet& shapes) const override {
    return inner_.prepare(shapes);
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return inner_.acceptsStrides(input, desc);
  }
  bool needsConstant(int input) const override {
    return input != static_cast<int>(kFilter) || packed_ == nullptr;
  }
  size_t packedBytes() const override {
    return packed_ == nullptr ? 0 : packed_->bytes();
  }

 private:
  static bool writesChannelsLast(const kernels::Problem& problem) {
    const std::vector<uint8_t>& order = problem.outputs.at(0).order;
    return !order.empty() && order.back() == 1;
  }

  // Engines with anything behind the sums leave much of a GPU idle where images are small, or have few channels. On an
  // H100 in float16 they took 12 us for each 3x3 convolution of ResNet-50 at batch 1, and 414 for its first one at
  // batch 32, where those without take 6 to 9, and 190. A launch behind them costs less than that.
  static bool isFasterApart(const Layer& layer, const ShapeSet& shapes) {
    constexpr int64_t kSmall = int64_t{1} << 19;  // elements of a result
    constexpr int64_t kFewChannels = 8;
    const Ints& filter = shapes.inputs.at(kFilter).dims;
    const bool has_taps = countOf(filter) > filter[0] * filter[1];
    const bool ends_there =
        !layer.has(kBias) && !layer.has(kResidual) && layer.attributes.getString("activation", "").empty();
    const bool is_depthwise = filter[1] == 1 && layer.attributes.getInt("groups", 1) > 1;
    return has_taps && !ends_there && !is_depthwise &&
           (filter[1] < kFewChannels) == (countOf(shapes.outputs[0].dims) > kSmall);
  }

  static bool isEmpty(const TensorDesc& desc) {
    return countOf(desc.dims) == 0;
  }

  std::unique_ptr<kernels::Prepared> prepareBy(const Layer& layer, const ShapeSet& shapes) const {
    const Strided weights = packed_ == nullptr
                                ? Strided{Place::input(layer, kFilter), shapes.inputs.at(kFilter).strides}
                                : packed_->onDevice(layer.device);
    if (std::unique_ptr<kernels::Prepared> product =
            transposed_ || packed_ != nullptr ? nullptr : prepareOnePlace(layer, shapes)) {
      return product;
    }
    std::unique_ptr<kernels::Prepared> direct = prepareDirectConvolution(layer, shapes, weights, transposed_);
    if (isEmpty(shapes.outputs.at(0)) || isEmpty(shapes.inputs[kIn]) || isEmpty(shapes.inputs[kFilter])) {
      return direct;
    }
    std::unique_ptr<Launches> by_library = attempt(layer, shapes, weights);
    if (by_library == nullptr) {
      return direct;
    }
    std::vector<bool> present = layer.present;
    present[kFilter] = present[kFilter] && packed_ == nullptr;
    return whereAligned(std::move(by_library), std::move(direct), std::move(present));
  }

  std::unique_ptr<Launches> attempt(const Layer& layer, const ShapeSet& shapes, const Strided& weights) const {
    const TensorDesc& out = shapes.outputs[0];
    const bool is_half = sizeOf(out.dtype) == 2;
    const bool has_tensor_cores = is_half || layer.attributes.getBool("tf32", false);
    const bool first = lies(out.dims, out.strides, true) && (has_tensor_cores || !lies(out.dims, out.strides, false));
    std::vector<Way> ways;
    for (const bool channels_last : {first, !first}) {
      const auto make = [&, channels_last] {
        return Attempt(layer, shapes, weights, api_, transposed_, channels_last);
      };
      if (channels_last && is_half && isFasterApart(layer, shapes)) {
        ways.emplace_back([make, &out] { return make().inTwoSteps(out.dtype); });
      }
      ways.emplace_back([make] { return make().fused(false); });
      if (is_half) {
        ways.emplace_back([make] { return make().fused(true); });
      }
      ways.emplace_back([make, &out, is_half] { return make().inTwoSteps(is_half ? DType::kFloat32 : out.dtype); });
      if (is_half) {
        ways.emplace_back([make, &out] { return make().inTwoSteps(out.dtype); });
      }
    }
    return firstOf(layer.device, ways,
                   "cuDNN has no engine for a convolution of these shapes: the kernel \"direct\" runs it");
  }

  const Cudnn& api_;
  bool transposed_;
  std::shared_ptr<PackedWeights> packed_;
  LaunchKernel inner_;
};

kernels::CreateResult create(const kernels::Problem& problem, bool transposed) {
  const DType dtype = problem.outputs.at(0).dtype;
  if (!isFloating(dtype)) {
    return Refusal{"dtype", "cuDNN convolves no " + std::string(toString(dtype)) + " here"};
  }
  if (std::optional<Refusal> refusal = refuseFusedActivation(*problem.attributes, dtype)) {
    return *refusal;
  }
  Refusal missing;
  const Cudnn* const api = libraryFor(problem, findCudnn, "cuDNN", missing);
  if (api == nullptr) {
    return missing;
  }
  return std::make_unique<CudnnKernel>(problem, *api, transposed);
}

}  // namespace

kernels::CreateResult createCudnnConvolution(const kernels::Problem& problem) {
  return create(problem, false);
}

kernels::CreateResult createCudnnDeconvolution(const kernels::Problem& problem) {
  return create(problem, true);
}

}  // namespace torchtrt::cuda
