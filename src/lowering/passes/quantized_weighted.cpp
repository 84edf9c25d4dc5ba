#include <ATen/native/quantized/PackedParams.h>
#include <torch/csrc/jit/ir/constants.h>

#include <cmath>
#include <map>
#include <string_view>
#include <typeinfo>

#include "lowering/passes/quantization.h"

// Convolution and linear: sums of integers, exact in float32 below 2^24, and their requantization as fbgemm and QNNPACK
// compute it,
//
//   clamp(round((round(sum) + bias) * factor), low, high)
//
// where round(sum), which changes no integer, keeps bias and factor from being folded into the weights. QNNPACK's bias
// is a rounded one, and part of the sum. oneDNN's kernels round otherwise, so theirs stay. On CPUs
// without VNNI, fbgemm saturates pairs of multiplications beyond 16 bits, which 7-bit activations avoid. They are exact
// here, as they are with VNNI.

namespace torchtrt::lowering {
namespace {

using torch::jit::NamedValue;
using torch::jit::Node;
using torch::jit::Value;

constexpr double kExact = 1 << 24;     // float32 holds all integers up to here
constexpr double kConverts = 1 << 30;  // PyTorch's conversion to int32 holds what is smaller
constexpr int64_t kMostParts = 2;      // sums of two exact parts are rounded once

struct Operator {
  std::string kind;  // of floats: aten::conv2d, aten::linear
  int64_t spatial = 0;
  bool relu = false;
};

const Operator* operatorOf(const Node& node) {
  static const std::map<std::string, Operator> operators = {
      {"quantized::conv1d", {"aten::conv1d", 1, false}}, {"quantized::conv1d_relu", {"aten::conv1d", 1, true}},
      {"quantized::conv2d", {"aten::conv2d", 2, false}}, {"quantized::conv2d_relu", {"aten::conv2d", 2, true}},
      {"quantized::conv3d", {"aten::conv3d", 3, false}}, {"quantized::conv3d_relu", {"aten::conv3d", 3, true}},
      {"quantized::linear", {"aten::linear", 0, false}}, {"quantized::linear_relu", {"aten::linear", 0, true}}};
  const auto found = operators.find(node.kind().toQualString());
  // The oldest overloads of convolution have stride, padding, dilation and groups as arguments.
  return found != operators.end() && node.inputs().size() == 4 ? &found->second : nullptr;
}

struct Weights {
  at::Tensor integers;  // float32, centered: [outputs, inputs of a group, ...]
  at::Tensor scales;    // float32, one or [outputs]
  at::Tensor bias;      // float32, undefined where there is none
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
  bool rounds_bias = false;  // to integers, as QNNPACK does
};

template <class Packed>
std::optional<Weights> unpacked(Packed& packed) {
  const std::string_view type = typeid(packed).name();
  const bool qnnpack =
      type.find("WeightsQnnp") != std::string_view::npos || type.find("WeightQnnp") != std::string_view::npos;
  const bool fbgemm = type.find("PackedConvWeightI") != std::string_view::npos ||
                      type.find("18PackedLinearWeight") != std::string_view::npos;
  if (!qnnpack && !fbgemm) {
    return std::nullopt;
  }
  Weights weights;
  const auto [weight, bias] = packed.unpack();
  if (weight.scalar_type() != c10::kQInt8) {
    return std::nullopt;
  }
  weights.integers = weight.int_repr().to(at::kFloat).contiguous();
  if (weight.qscheme() == at::kPerTensorAffine) {
    weights.integers = weights.integers - weight.q_zero_point();
    weights.scales = at::full({1}, weight.q_scale(), at::kFloat);
  } else if (weight.qscheme() == at::kPerChannelAffine && weight.q_per_channel_axis() == 0) {
    std::vector<int64_t> shape(static_cast<size_t>(weight.dim()), 1);
    shape[0] = -1;
    weights.integers = weights.integers - weight.q_per_channel_zero_points().to(at::kFloat).reshape(shape);
    weights.scales = weight.q_per_channel_scales().to(at::kFloat);
  } else {
    return std::nullopt;
  }
  weights.bias = bias && bias->defined() ? bias->to(at::kFloat) : at::Tensor();
  weights.rounds_bias = qnnpack;
  return weights;
}

template <int kSpatial>
std::optional<Weights> convolutionWeights(const torch::jit::IValue& value, int64_t spatial) {
  const auto packed = value.toCustomClass<ConvPackedParamsBase<kSpatial>>();
  auto weights = packed->transpose() ? std::nullopt : unpacked(*packed);
  if (!weights) {
    return std::nullopt;
  }
  // One-dimensional ones are packed as two-dimensional, with a height of one.
  const auto last = [&](const torch::List<int64_t>& list) {
    const std::vector<int64_t> all = list.vec();
    return std::vector<int64_t>(all.end() - spatial, all.end());
  };
  if (spatial < kSpatial) {
    weights->integers = weights->integers.squeeze(2);
  }
  weights->stride = last(packed->stride());
  weights->padding = last(packed->padding());
  weights->dilation = last(packed->dilation());
  weights->groups = packed->groups();
  return weights;
}

std::optional<Weights> weightsOf(const Node& node, const Operator& op) {
  const auto constant = torch::jit::toIValue(node.input(1));
  if (!constant || !constant->isObject()) {
    return std::nullopt;
  }
  if (op.spatial == 0) {
    return unpacked(*constant->toCustomClass<LinearPackedParamsBase>());
  }
  return op.spatial == 3 ? convolutionWeights<3>(*constant, 3) : convolutionWeights<2>(*constant, op.spatial);
}

// The largest magnitude that sums over the channels from..to, or any part of such a sum, may have.
double largestSum(const Weights& weights, const Quantization& input, int64_t from, int64_t to) {
  const at::Tensor part = weights.integers.slice(1, from, to).flatten(1).to(at::kDouble);
  const at::Tensor positive = part.clamp_min(0).sum(1);
  const at::Tensor negative = -part.clamp_max(0).sum(1);
  const auto high = static_cast<double>(input.high());
  const auto low = static_cast<double>(-input.low());
  return at::maximum(positive * high + negative * low, positive * low + negative * high).max().item<double>();
}

// The bias for the sums, and the factor for these, in PyTorch's order of roundings.
struct Requantization {
  at::Tensor bias;
  at::Tensor factor;
};

Requantization requantizationOf(const Weights& weights, const Quantization& input, const Quantization& output) {
  const at::Tensor step = weights.scales * input.step();
  const at::Tensor factor = weights.rounds_bias ? step * output.inverse() : step / output.step();
  if (!weights.bias.defined()) {
    return {at::Tensor(), factor};
  }
  return {weights.rounds_bias ? at::round(weights.bias * at::reciprocal(step)) : weights.bias / step, factor};
}

double largestBias(const Requantization& requantization) {
  const at::Tensor& bias = requantization.bias;
  return bias.defined() && bias.numel() != 0 ? bias.abs().max().item<double>() : 0;
}

// Into how many equal parts the input channels have to be cut for exact sums, the first of them with a rounded bias.
std::optional<int64_t> partsOf(const Weights& weights, const Quantization& input,
                               const Requantization& requantization) {
  const int64_t channels = weights.integers.size(1);
  const double bias = weights.rounds_bias ? largestBias(requantization) : 0;
  for (int64_t parts = 1; parts <= (weights.groups == 1 ? kMostParts : 1); ++parts) {
    bool exact = true;
    for (int64_t part = 0; part < parts; ++part) {
      const double sum = largestSum(weights, input, part * channels / parts, (part + 1) * channels / parts);
      exact &= sum + (part == 0 ? bias : 0) < kExact;
    }
    if (exact) {
      return parts;
    }
  }
  return std::nullopt;
}

bool isInRange(const Requantization& requantization, double largest_sum) {
  const double largest = largest_sum + largestBias(requantization);
  return requantization.factor.min().item<double>() > 0 &&
         largest * requantization.factor.max().item<double>() < kConverts;
}

class WeightedBuilder {
 public:
  WeightedBuilder(Operator op, Weights weights, Requantization requantization, int64_t parts)
      : op_(std::move(op)), weights_(std::move(weights)), requantization_(std::move(requantization)), parts_(parts) {}

  Value* build(FloatBuilder& builder, Value* x, const Quantization& to) const {
    Value* y = sum(builder, x);
    y = weights_.rounds_bias ? y : withBias(builder, y);
    y = builder.call("aten::mul", {y, builder.constant(perChannel(requantization_.factor))});
    return builder.roundAndClamp(y, op_.relu ? 0 : to.low(), to.high());
  }

 private:
  Value* withBias(FloatBuilder& builder, Value* x) const {
    return requantization_.bias.defined()
               ? builder.call("aten::add", {x, builder.constant(perChannel(requantization_.bias))})
               : x;
  }

  at::Tensor perChannel(const at::Tensor& values) const {
    if (values.numel() == 1) {
      return values.reshape({});
    }
    std::vector<int64_t> shape(static_cast<size_t>(op_.spatial) + 1, 1);
    shape[0] = -1;
    return values.reshape(shape).contiguous();
  }

  Value* sum(FloatBuilder& builder, Value* x) const {
    const int64_t channels = weights_.integers.size(1);
    Value* total = nullptr;
    for (int64_t part = 0; part < parts_; ++part) {
      const int64_t from = part * channels / parts_;
      const int64_t to = (part + 1) * channels / parts_;
      const int64_t axis = op_.spatial == 0 ? -1 : -1 - op_.spatial;
      Value* of = parts_ == 1 ? x : builder.call("aten::slice", {x, axis, from, to, int64_t{1}});
      Value* rounded = builder.call("aten::round", {product(builder, of, weights_.integers.slice(1, from, to))});
      rounded = part == 0 && weights_.rounds_bias ? withBias(builder, rounded) : rounded;
      total = total == nullptr ? rounded : builder.call("aten::add", {total, rounded});
    }
    return total;
  }

  Value* product(FloatBuilder& builder, Value* x, const at::Tensor& weight) const {
    std::vector<NamedValue> arguments = {x, builder.constant(weight.contiguous()), torch::jit::IValue()};
    if (op_.spatial != 0) {
      arguments.insert(arguments.end(), {weights_.stride, weights_.padding, weights_.dilation, weights_.groups});
    }
    return builder.call(op_.kind.c_str(), arguments);
  }

  Operator op_;
  Weights weights_;
  Requantization requantization_;
  int64_t parts_;
};

}  // namespace

std::optional<QuantizedRule> weightedRuleOf(Node* node, const QuantizedValues& known) {
  const Operator* op = operatorOf(*node);
  const auto input = op ? known.find(node->input(0)) : known.end();
  if (input == known.end() || input->second.dtype != c10::kQUInt8) {
    return std::nullopt;
  }
  auto output = quantizationOf(node->input(2), node->input(3), c10::kQUInt8);
  auto weights = output ? weightsOf(*node, *op) : std::nullopt;
  if (!weights || weights->integers.numel() == 0) {
    return std::nullopt;
  }
  Requantization requantization = requantizationOf(*weights, input->second, *output);
  const auto parts = partsOf(*weights, input->second, requantization);
  if (!parts || !isInRange(requantization, largestSum(*weights, input->second, 0, weights->integers.size(1)))) {
    return std::nullopt;
  }
  output->channels_last = op->spatial == 2;
  const WeightedBuilder weighted(*op, std::move(*weights), std::move(requantization), *parts);
  return QuantizedRule{
      {node->input(0)}, output, [weighted, to = *output](FloatBuilder& builder, const std::vector<Value*>& x) {
        return std::vector<Value*>{weighted.build(builder, x[0], to)};
      }};
}

}  // namespace torchtrt::lowering
