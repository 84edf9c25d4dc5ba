#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "libtorch/versions.h"

namespace torchtrt::conversion::converters {
namespace {

constexpr char kRelu[] = "relu", kSilu[] = "silu", kMish[] = "mish", kHardSwish[] = "hard_swish", kSelu[] = "selu",
               kLogSigmoid[] = "log_sigmoid", kSigmoid[] = "sigmoid", kTanh[] = "tanh";

// An activation without parameters that keeps the dtype.
template <const char* op>
Tensor& plain(Call& call) {
  return call.activation(op, call.tensor(0));
}

// Takes whole numbers, too, which give float32.
template <const char* op>
Tensor& floatingActivation(Call& call) {
  Tensor& input = call.tensor(0);
  return call.activation(op, call.cast(input, floatingType(input.getType())));
}

Tensor& relu6(Call& call) {
  return call.activation("clip", call.tensor(0), 0, 6);
}

Tensor& hardtanh(Call& call) {
  return call.activation("clip", call.tensor(0), call.real(1), call.real(2));
}

Tensor& leakyRelu(Call& call) {
  return call.activation("leaky_relu", call.tensor(0), call.real(1));
}

// The slope is the middle of the range in evaluation.
Tensor& rrelu(Call& call) {
  if (call.flag(3)) {
    call.refuse("random", "training=True draws slopes at random");
  }
  return call.activation("leaky_relu", call.tensor(0), (call.real(1) + call.real(2)) / 2);
}

// x > 0 ? scale * x : alpha * scale * (e^(input_scale * x) - 1)
Tensor& elu(Call& call) {
  Tensor& x = call.tensor(0);
  const double alpha = call.real(1), scale = call.real(2), input_scale = call.real(3);
  if (scale == 1 && input_scale == 1) {
    return call.activation("elu", x, alpha);
  }
  const DType dtype = x.getType();
  Tensor& scaled = call.elementwise("prod", x, call.constant(input_scale, dtype));
  Tensor& negative = call.elementwise("prod", call.unary("expm1", scaled), call.constant(alpha * scale, dtype));
  Tensor& positive = call.elementwise("prod", x, call.constant(scale, dtype));
  Tensor& is_positive = call.elementwise("greater", x, call.constant(0, dtype));
  return call.add(LayerType::kSELECT, {&is_positive, &positive, &negative});
}

Tensor& celu(Call& call) {
  return call.activation("celu", call.tensor(0), call.real(1));
}

Tensor& gelu(Call& call) {
  const std::string approximate = call.text(1);
  if (approximate != "none" && approximate != "tanh") {
    call.refuse("argument", "argument 'approximate' has to be 'none' or 'tanh', got '" + approximate + "'");
  }
  return call.activation(approximate == "tanh" ? "gelu_tanh" : "gelu_erf", call.tensor(0));
}

Tensor& hardsigmoid(Call& call) {
  return call.activation("hard_sigmoid", call.tensor(0), 1.0 / 6, 0.5);
}

Tensor& softplus(Call& call) {
  return call.activation("softplus", call.tensor(0), call.real(1), call.real(2));
}

// x <= threshold ? value : x, so that NaN stays. PyTorch does not round the threshold to 16 bits.
Tensor& threshold(Call& call) {
  Tensor& x = call.tensor(0);
  const bool is_whole = !isFloating(x.getType());
  Tensor& wide = is_whole || x.getType() == DType::kFloat64 ? x : call.cast(x, DType::kFloat32);
  Tensor& below = call.elementwise("less_equal", wide, call.constant(call.number(1), wide.getType()));
  return call.add(LayerType::kSELECT, {&below, &call.constant(call.number(2), x.getType()), &x});
}

double rounded(double number, DType dtype) {
  return dtype == DType::kBFloat16  ? static_cast<float>(c10::BFloat16(number))
         : dtype == DType::kFloat16 ? static_cast<float>(c10::Half(number))
                                    : number;
}

// PyTorch rounds the limit to the type of x.
Tensor& hardshrink(Call& call) {
  Tensor& x = call.tensor(0);
  return call.activation("hard_shrink", x, rounded(call.real(1), x.getType()));
}

Tensor& softshrink(Call& call) {
  Tensor& x = call.tensor(0);
  const double limit = call.real(1);
  return call.activation("soft_shrink", x, libtorch::softshrinkRoundsItsLimit() ? rounded(limit, x.getType()) : limit);
}

// One slope for all, or one for each channel (axis 1).
Tensor& prelu(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& slope = call.tensor(1);
  std::vector<Dim> dims(static_cast<size_t>(x.rank()), Dim(1));
  if (x.rank() > 1) {
    dims[1] = slope.getDimensions().numel();
  }
  return call.add(LayerType::kPARAMETRIC_RELU, {&x, &call.reshape(slope, Dims(dims))});
}

// The first half along the axis times the sigmoid of the second.
Tensor& glu(Call& call) {
  Tensor& x = call.tensor(0);
  const int64_t axis = call.axis(1, x.rank());
  const Dim half = Dim::floorDiv(x.getDimensions()[static_cast<int>(axis)], 2);
  Tensor& gate = call.activation("sigmoid", call.slice(x, axis, half, half));
  return call.elementwise("prod", call.slice(x, axis, 0, half), gate);
}

}  // namespace

void addActivations(NodeConverterRegistry& registry) {
  registry.add("aten::relu(Tensor self) -> Tensor", one(plain<kRelu>));
  registry.add("aten::relu6(Tensor self) -> Tensor", one(relu6));
  registry.add("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", one(hardtanh));
  registry.add("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", one(leakyRelu));
  registry.add(
      "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? "
      "generator=None) -> Tensor",
      one(rrelu));
  registry.add("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", one(elu));
  registry.add("aten::selu(Tensor self) -> Tensor", one(plain<kSelu>));
  registry.add("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", one(celu));
  registry.add("aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", one(gelu));
  registry.add("aten::silu(Tensor self) -> Tensor", one(plain<kSilu>));
  registry.add("aten::mish(Tensor self) -> Tensor", one(plain<kMish>));
  registry.add("aten::hardswish(Tensor self) -> Tensor", one(plain<kHardSwish>));
  registry.add("aten::hardsigmoid(Tensor self) -> Tensor", one(hardsigmoid));
  registry.add("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", one(softplus));
  registry.add("aten::log_sigmoid(Tensor self) -> Tensor", one(plain<kLogSigmoid>));
  registry.add("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", one(threshold));
  registry.add("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", one(hardshrink));
  registry.add("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", one(softshrink));
  registry.add("aten::prelu(Tensor self, Tensor weight) -> Tensor", one(prelu));
  registry.add("aten::glu(Tensor self, int dim=-1) -> Tensor", one(glu));
  registry.add("aten::sigmoid(Tensor self) -> Tensor", one(floatingActivation<kSigmoid>));
  registry.add("aten::tanh(Tensor self) -> Tensor", one(floatingActivation<kTanh>));
}

}  // namespace torchtrt::conversion::converters
