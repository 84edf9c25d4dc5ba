#include "cuda/convolution/plan.h"

#include <sstream>
#include <utility>

namespace torchtrt::cuda {

namespace {

enum : int64_t { kX, kWeights, kY, kBias, kResidual, kScale, kPointers };

}  // namespace

std::optional<DnnActivation> dnnActivationOf(const Attributes& attributes, DType dtype) {
  const std::string name = attributes.getString("activation", "");
  const double alpha = attributes.getDouble("activation_alpha", 0), beta = attributes.getDouble("activation_beta", 0);
  if (name == "relu") {
    return DnnActivation{};
  }
  if (name == "clip" && alpha == 0 && beta > 0) {
    return DnnActivation{dnn::kRelu, 0, beta};
  }
  if (name == "leaky_relu") {
    return DnnActivation{dnn::kRelu, alpha, std::nullopt};
  }
  constexpr std::pair<const char*, int> kOf16Bits[] = {{"sigmoid", dnn::kSigmoid},
                                                       {"tanh", dnn::kTanh},
                                                       {"silu", dnn::kSilu},
                                                       {"gelu_erf", dnn::kGeluErf},
                                                       {"gelu_tanh", dnn::kGeluTanh}};
  for (const auto& [known, mode] : kOf16Bits) {
    if (name == known && sizeOf(dtype) == 2) {
      return DnnActivation{mode, 0, std::nullopt};
    }
  }
  return std::nullopt;
}

std::string DnnProblem::text() const {
  std::ostringstream text;
  text << std::hexfloat;  // all bits of numbers
  const auto add = [&](const Ints& values) {
    for (const int64_t value : values) {
      text << value << ' ';
    }
    text << ';';
  };
  for (const DnnTensor* const each : {&x, &weights, &y}) {
    text << toString(each->dtype) << ' ';
    add(each->dims);
    add(each->strides);
  }
  for (const Ints* const each : {&stride, &pre_padding, &post_padding, &dilation}) {
    add(*each);
  }
  text << is_transposed << scales << adds_bias << adds_residual << tf32;
  if (activation) {
    text << ' ' << activation->mode << ' ' << activation->slope << ' ' << activation->most.value_or(-1);
  }
  return text.str();
}

namespace {

class ConvolutionGraph final : DnnGraph {
 public:
  ConvolutionGraph(DnnLibrary& library, const DnnProblem& problem)
      : DnnGraph(library, "a convolution", problem.x.dtype, kPointers, problem.tf32), problem_(problem) {
    // Kernels of cuDNN 9.19 for sm_90 begin while the kernel in front still runs. They wait for it before they read x,
    // but not before they read the residual.
    for (const int64_t operand : {kWeights, kBias, kResidual, kScale}) {
      setReadAhead(operand);
    }
  }

  std::shared_ptr<const DnnPlan> build() {
    describe();
    return plan(operations_);
  }

 private:
  dnn::Object tensorOf(int64_t id, const DnnTensor& of) {
    return tensor(id, typeOf(of.dtype), of.dims, of.strides);
  }
  // The result of an operation: y if it is the last one.
  dnn::Object result() {
    --left_;
    return left_ == 0 ? tensorOf(kY, problem_.y)
                      : tensor(kFirstVirtual + left_, precision(), problem_.y.dims, problem_.y.strides);
  }

  // One element for each channel.
  dnn::Object ofChannels(int64_t id) {
    const int64_t channels = problem_.y.dims[1];
    Ints dims(problem_.y.dims.size(), 1), strides(problem_.y.dims.size(), channels);
    dims[1] = channels;
    strides[1] = 1;
    return tensor(id, problem_.scales ? dnn::kFloat32 : typeOf(problem_.x.dtype), dims, strides);
  }

  void describe() {
    left_ = 1 + (problem_.scales ? 1 : 0) + (problem_.adds_bias ? 1 : 0) + (problem_.adds_residual ? 1 : 0) +
            (problem_.activation ? 1 : 0);
    dnn::Object value = convolution();
    if (problem_.scales) {
      value = combined(dnn::kMultiply, value, ofChannels(kScale));
    }
    if (problem_.adds_residual) {
      value = combined(dnn::kAdd, value, tensorOf(kResidual, problem_.y));
    }
    if (problem_.adds_bias) {
      value = combined(dnn::kAdd, value, ofChannels(kBias));
    }
    if (problem_.activation) {
      activate(value);
    }
  }

  void setFactor(dnn::Object object, dnn::Attribute attribute, float factor) {
    if (precision() == dnn::kFloat64) {
      set(object, attribute, dnn::kDouble, static_cast<double>(factor));
    } else {
      set(object, attribute, dnn::kFloat, factor);
    }
  }

  dnn::Object convolution() {
    Owned description = create(dnn::kConvolution);
    dnn::Object object = description.get();
    set(object, dnn::kConvolutionPrecision, dnn::kDataType, precision());
    set(object, dnn::kConvolutionModeIs, dnn::kConvolutionMode, dnn::kCrossCorrelation);
    set(object, dnn::kConvolutionDims, dnn::kInt64, static_cast<int64_t>(problem_.stride.size()));
    set(object, dnn::kConvolutionStrides, problem_.stride);
    set(object, dnn::kConvolutionDilations, problem_.dilation);
    set(object, dnn::kConvolutionPrePaddings, problem_.pre_padding);
    set(object, dnn::kConvolutionPostPaddings, problem_.post_padding);
    object = finished(std::move(description));
    const bool back = problem_.is_transposed;
    Owned operation = create(back ? dnn::kBackward : dnn::kForward);
    const dnn::Object made = operation.get();
    set(made, back ? dnn::kBackwardConvolution : dnn::kForwardConvolution, dnn::kObject, object);
    set(made, back ? dnn::kBackwardY : dnn::kForwardX, dnn::kObject, tensorOf(kX, problem_.x));
    set(made, back ? dnn::kBackwardWeights : dnn::kForwardWeights, dnn::kObject, tensorOf(kWeights, problem_.weights));
    const dnn::Object to = result();
    set(made, back ? dnn::kBackwardX : dnn::kForwardY, dnn::kObject, to);
    setFactor(made, back ? dnn::kBackwardAlpha : dnn::kForwardAlpha, 1);
    setFactor(made, back ? dnn::kBackwardBeta : dnn::kForwardBeta, 0);
    operations_.push_back(finished(std::move(operation)));
    return to;
  }

  dnn::Object pointwise(dnn::Object description, dnn::Object x, dnn::Object b) {
    Owned operation = create(dnn::kPointwiseOperation);
    set(operation.get(), dnn::kPointwiseDescription, dnn::kObject, description);
    set(operation.get(), dnn::kPointwiseX, dnn::kObject, x);
    if (b != nullptr) {
      set(operation.get(), dnn::kPointwiseB, dnn::kObject, b);
    }
    const dnn::Object to = result();
    set(operation.get(), dnn::kPointwiseY, dnn::kObject, to);
    operations_.push_back(finished(std::move(operation)));
    return to;
  }

  Owned pointwiseDescription(int mode) {
    Owned description = create(dnn::kPointwise);
    set(description.get(), dnn::kPointwiseModeIs, dnn::kPointwiseMode, mode);
    set(description.get(), dnn::kPointwisePrecision, dnn::kDataType, precision());
    return description;
  }

  dnn::Object combined(int mode, dnn::Object x, dnn::Object b) {
    return pointwise(finished(pointwiseDescription(mode)), x, b);
  }

  void activate(dnn::Object x) {
    const DnnActivation& activation = *problem_.activation;
    Owned description = pointwiseDescription(activation.mode);
    if (activation.mode == dnn::kRelu) {
      // Newer versions always hand NaN on and may not know the attribute.
      trySet(description.get(), dnn::kPointwiseNan, dnn::kNanPropagation, dnn::kPropagateNan);
      if (activation.most) {
        set(description.get(), dnn::kPointwiseUpperClip, dnn::kDouble, *activation.most);
      }
      if (activation.slope != 0) {
        set(description.get(), dnn::kPointwiseSlope, dnn::kDouble, activation.slope);
      }
    }
    pointwise(finished(std::move(description)), x, nullptr);
  }

  const DnnProblem& problem_;
  int left_ = 0;  // operations whose results are not described yet
  std::vector<dnn::Object> operations_;
};

}  // namespace

std::shared_ptr<const DnnPlan> planOf(const CudaDevice& device, const Cudnn& api, const DnnProblem& problem) {
  const ContextScope scope(device);
  DnnLibrary* const library = DnnLibrary::of(device, api);
  if (library == nullptr) {
    return nullptr;
  }
  return library->plan("convolution " + problem.text(), [&] { return ConvolutionGraph(*library, problem).build(); });
}

}  // namespace torchtrt::cuda
