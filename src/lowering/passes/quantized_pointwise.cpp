#include <torch/csrc/jit/ir/constants.h>

#include <limits>
#include <set>
#include <string>

#include "lowering/passes/quantization.h"

// Operators of single values: PyTorch is asked for all 256 of them, or for all pairs, both as its vector code and as
// its scalar code computes them. An operator is written as a formula if that gives the same for every value, or as the
// table of what PyTorch gave. Where PyTorch's two differ from each other, as for products of qint8, whose vector code
// is off by one, it stays; except for sums, of which they round some to neighbours.

namespace torchtrt::lowering {
namespace {

using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;

// A copy whose elements are apart, which PyTorch's vector code leaves to its scalar code.
at::Tensor apart(const at::Tensor& quantized) {
  const at::Tensor integers = at::stack({quantized.int_repr(), quantized.int_repr()}, -1);
  return at::_make_per_tensor_quantized_tensor(integers, quantized.q_scale(), quantized.q_zero_point()).select(-1, 0);
}

// Returns PyTorch's result for the node with `probes` in place of its quantized operands. Its other operands have to be
// constants.
std::optional<at::Tensor> evaluate(Node* node, const std::vector<std::pair<const Value*, IValue>>& probes) {
  torch::jit::Stack stack;
  for (const Value* input : node->inputs()) {
    auto constant = torch::jit::toIValue(input);
    for (const auto& [value, probe] : probes) {
      constant = value == input ? std::optional(probe) : constant;
    }
    if (!constant) {
      return std::nullopt;
    }
    stack.push_back(*constant);
  }
  try {
    node->getOperation()(stack);
  } catch (const std::exception&) {
    return std::nullopt;  // it will fail at run time, too
  }
  return stack.size() == 1 && stack[0].isTensor() && stack[0].toTensor().is_quantized()
             ? std::optional(stack[0].toTensor())
             : std::nullopt;
}

// Evaluates for all values of the first operand; nothing unless vector and scalar code give the same.
std::optional<at::Tensor> evaluateBothWays(Node* node, const at::Tensor& values) {
  const auto result = evaluate(node, {{node->input(0), values}});
  const auto other = result ? evaluate(node, {{node->input(0), apart(values)}}) : std::nullopt;
  return other && at::equal(result->int_repr(), other->int_repr()) ? result : std::nullopt;
}

std::optional<QuantizedRule> quantizeRule(Node* node) {
  const auto dtype = torch::jit::constant_as<int64_t>(node->input(3));
  const auto to =
      dtype ? quantizationOf(node->input(1), node->input(2), static_cast<c10::ScalarType>(*dtype)) : std::nullopt;
  if (!to) {
    return std::nullopt;
  }
  const at::Tensor nan = at::full({1}, std::numeric_limits<float>::quiet_NaN());
  const auto of_nan = centered(at::quantize_per_tensor(nan, to->scale, to->zero_point, to->dtype), *to).item<double>();
  return QuantizedRule{{}, to, [node, to = *to, of_nan](FloatBuilder& builder, const std::vector<Value*>&) {
                         Value* steps = builder.call("aten::mul", {node->input(0), static_cast<double>(to.inverse())});
                         steps = builder.call("aten::nan_to_num", {steps, of_nan, IValue(), IValue()});
                         return std::vector<Value*>{builder.roundAndClamp(steps, to)};
                       }};
}

std::optional<QuantizedRule> dequantizeRule(Node* node, const Quantization& from) {
  return QuantizedRule{
      {node->input(0)}, std::nullopt, [from](FloatBuilder& builder, const std::vector<Value*>& x) {
        return std::vector<Value*>{builder.call("aten::mul", {x[0], static_cast<double>(from.step())})};
      }};
}

Value* lookUp(FloatBuilder& builder, Value* x, const at::Tensor& table, int64_t low) {
  Value* index = builder.cast(builder.call("aten::sub", {x, low}), at::kLong);
  return builder.call("aten::take", {builder.constant(table), index});
}

// Whatever the operator: clamping where its table is that, and the table else.
std::optional<QuantizedRule> tableRule(Node* node, const Quantization& from) {
  const auto result = evaluateBothWays(node, allValues(from));
  auto to = result ? quantizationOf(*result) : std::nullopt;
  if (!to || result->numel() != 256) {
    return std::nullopt;
  }
  to->channels_last = from.channels_last;
  const at::Tensor table = centered(*result, *to).contiguous();
  const at::Tensor all = at::arange(from.low(), from.high() + 1).to(at::kFloat);
  const auto least = table.min().item<int64_t>();
  const auto most = table.max().item<int64_t>();
  const bool clamps = at::equal(table, at::clamp(all, least, most));
  return QuantizedRule{
      {node->input(0)}, to, [=, low = from.low()](FloatBuilder& builder, const std::vector<Value*>& x) {
        return std::vector<Value*>{clamps ? builder.call("aten::clamp", {x[0], least, most})
                                          : lookUp(builder, x[0], table, low)};
      }};
}

// A sum's operand as PyTorch's vector code dequantizes it: fma(q, step, -round(step * zero point)), whose float64 is
// exact. Apart from that last rounding it is the centered integer times the step.
double roundingOfZero(const Quantization& quantization) {
  const double exact = static_cast<double>(quantization.step()) * static_cast<double>(quantization.zero_point);
  return exact - static_cast<double>(static_cast<float>(exact));
}

// The ways to make one of two quantized operands.
enum class Pair { kSum, kSumOfRounded, kProduct };

struct PairForm {
  Pair pair;
  Quantization a, b, to;
  int64_t low;  // 0 behind a relu

  float factor() const {
    return pair == Pair::kProduct ? a.step() * b.step() * to.inverse() : to.inverse();
  }

  // The results, and the nodes that compute them, for centered integers.
  at::Tensor compute(const at::Tensor& x, const at::Tensor& y) const {
    const auto operand = [this](const at::Tensor& integers, const Quantization& from) {
      return pair == Pair::kSum ? integers * from.step()
                                : (integers.to(at::kDouble) * from.step() + roundingOfZero(from)).to(at::kFloat);
    };
    const at::Tensor both = pair == Pair::kProduct ? x * y : operand(x, a) + operand(y, b);
    return at::clamp(at::round(both * factor()), low, to.high());
  }

  Value* build(FloatBuilder& builder, Value* x, Value* y) const {
    const auto operand = [&](Value* integers, const Quantization& from) {
      if (pair == Pair::kSum) {
        return builder.call("aten::mul", {integers, static_cast<double>(from.step())});
      }
      Value* exact = builder.call("aten::mul", {builder.cast(integers, at::kDouble), static_cast<double>(from.step())});
      return builder.cast(builder.call("aten::add", {exact, roundingOfZero(from)}), at::kFloat);
    };
    Value* both = pair == Pair::kProduct ? builder.call("aten::mul", {x, y})
                                         : builder.call("aten::add", {operand(x, a), operand(y, b)});
    Value* steps = builder.call("aten::mul", {both, static_cast<double>(factor())});
    return builder.roundAndClamp(steps, low, to.high());
  }
};

// All pairs of values of two quantizations, centered and as PyTorch holds them.
struct AllPairs {
  AllPairs(const Quantization& a, const Quantization& b)
      : x(repeated(a, allValues(a).int_repr().repeat_interleave(256))),
        y(repeated(b, allValues(b).int_repr().repeat({256}))) {}

  static at::Tensor repeated(const Quantization& of, const at::Tensor& integers) {
    return at::_make_per_tensor_quantized_tensor(integers.contiguous(), of.scale, of.zero_point);
  }

  at::Tensor x, y;
};

std::optional<QuantizedRule> pairRule(Node* node, bool sum, bool relu, const QuantizedValues& known) {
  const auto first = known.find(node->input(0));
  const auto second = known.find(node->input(1));
  if (first == known.end() || second == known.end() || first == second || node->inputs().size() != 4) {
    return std::nullopt;
  }
  const Quantization& a = first->second;
  const Quantization& b = second->second;
  auto to = quantizationOf(node->input(2), node->input(3), a.dtype);
  if (!to || a.dtype != b.dtype) {
    return std::nullopt;
  }
  to->channels_last = a.channels_last && b.channels_last;
  const AllPairs all(a, b);
  const auto vector = evaluate(node, {{node->input(0), all.x}, {node->input(1), all.y}});
  const auto scalar = evaluate(node, {{node->input(0), apart(all.x)}, {node->input(1), apart(all.y)}});
  if (!vector || !scalar) {
    return std::nullopt;
  }
  const at::Tensor expected = centered(*vector, *to);
  const at::Tensor other = centered(*scalar, *to);
  PairForm form{sum ? Pair::kSum : Pair::kProduct, a, b, *to, relu ? 0 : to->low()};
  const auto gives = [&](const at::Tensor& result) {
    return at::equal(form.compute(centered(all.x, a), centered(all.y, b)), result);
  };
  if (!gives(expected) || !at::equal(expected, other)) {
    // Sums that the two codes round to neighbours: as vector code does, which computes all but a tensor's end.
    const bool is_other_sum = sum && gives(other) && (expected - other).abs().max().item<float>() <= 1;
    form.pair = Pair::kSumOfRounded;
    if (!is_other_sum || !gives(expected)) {
      return std::nullopt;
    }
  }
  return QuantizedRule{
      {node->input(0), node->input(1)}, to, [form](FloatBuilder& builder, const std::vector<Value*>& of) {
        return std::vector<Value*>{form.build(builder, of[0], of[1])};
      }};
}

at::Tensor rescaled(const at::Tensor& x, const Quantization& from, const Quantization& to, int64_t low) {
  return at::clamp(at::round(x * from.step() * to.inverse()), low, to.high());
}

// Every tensor of a list takes the quantization of the result.
std::optional<QuantizedRule> catRule(Node* node, bool relu, const QuantizedValues& known) {
  Node* list = node->input(0)->node();
  const auto first = list->kind() == torch::jit::prim::ListConstruct && !list->inputs().empty()
                         ? known.find(list->input(0))
                         : known.end();
  if (first == known.end() || node->inputs().size() != 4 || !torch::jit::constant_as<int64_t>(node->input(1))) {
    return std::nullopt;
  }
  auto to = quantizationOf(node->input(2), node->input(3), first->second.dtype);
  if (!to) {
    return std::nullopt;
  }
  const int64_t low = relu ? 0 : to->low();
  bool channels_last = true;
  std::vector<Quantization> from;
  for (const Value* element : list->inputs()) {
    const auto found = known.find(element);
    if (found == known.end() || found->second.dtype != to->dtype) {
      return std::nullopt;
    }
    from.push_back(found->second);
    channels_last &= found->second.channels_last;
    // PyTorch has code for rows, for channels-last vectors, and for channels-last single values: this checks each.
    const at::Tensor all = allValues(from.back());
    const at::Tensor expected = rescaled(centered(all, from.back()), from.back(), *to, low);
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{256, 1, 1, 1}, {1, 256, 1, 1}, {1, 1, 16, 16}}) {
      for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
        const IValue probe = c10::List<at::Tensor>({all.reshape(shape).contiguous(layout)});
        const auto result = evaluate(node, {{node->input(0), probe}});
        if (!result || !at::equal(centered(*result, *to).flatten(), expected)) {
          return std::nullopt;
        }
      }
    }
  }
  to->channels_last = channels_last;
  return QuantizedRule{
      list->inputs().vec(), to, [=](FloatBuilder& builder, const std::vector<Value*>& of) {
        std::vector<Value*> parts;
        for (size_t i = 0; i < of.size(); ++i) {
          const bool same = !relu && from[i].scale == to->scale && from[i].zero_point == to->zero_point;
          Value* x = same ? of[i] : builder.call("aten::mul", {of[i], static_cast<double>(from[i].step())});
          x = same ? x : builder.call("aten::mul", {x, static_cast<double>(to->inverse())});
          parts.push_back(same ? x : builder.roundAndClamp(x, low, to->high()));
        }
        Node* joined = builder.graph().createList(c10::TensorType::get(), parts);
        builder.graph().insertNode(joined);
        return std::vector<Value*>{builder.call("aten::cat", {joined->output(), node->input(1)})};
      }};
}

const std::set<std::string>& unary() {
  static const std::set<std::string> kinds = {"aten::relu",
                                              "aten::relu6",
                                              "aten::hardtanh",
                                              "aten::clamp",
                                              "aten::sigmoid",
                                              "aten::tanh",
                                              "aten::hardsigmoid",
                                              "aten::leaky_relu",
                                              "aten::elu",
                                              "aten::threshold",
                                              "quantized::hardswish",
                                              "quantized::leaky_relu",
                                              "quantized::elu",
                                              "quantized::celu",
                                              "quantized::sigmoid",
                                              "quantized::relu6",
                                              "quantized::threshold",
                                              "quantized::clamp",
                                              "quantized::add_scalar",
                                              "quantized::add_scalar_relu",
                                              "quantized::mul_scalar",
                                              "quantized::mul_scalar_relu"};
  return kinds;
}

}  // namespace

std::optional<QuantizedRule> pointwiseRuleOf(Node* node, const QuantizedValues& known) {
  const std::string kind = node->kind().toQualString();
  if (kind == "aten::quantize_per_tensor" && node->inputs().size() == 4 &&
      node->output()->type()->kind() == c10::TypeKind::TensorType) {
    return quantizeRule(node);
  }
  if (kind == "quantized::cat" || kind == "quantized::cat_relu") {
    return catRule(node, kind == "quantized::cat_relu", known);
  }
  const auto input = node->inputs().empty() ? known.end() : known.find(node->input(0));
  if (input == known.end()) {
    return std::nullopt;
  }
  if (kind == "aten::dequantize") {
    return dequantizeRule(node, input->second);
  }
  if (unary().count(kind)) {
    return tableRule(node, input->second);
  }
  if (kind == "quantized::add" || kind == "quantized::add_relu") {
    return pairRule(node, true, kind == "quantized::add_relu", known);
  }
  if (kind == "quantized::mul" || kind == "quantized::mul_relu") {
    return pairRule(node, false, kind == "quantized::mul_relu", known);
  }
  return std::nullopt;
}

std::optional<QuantizedRule> quantizedRuleOf(Node* node, const QuantizedValues& known) {
  for (const auto family : {weightedRuleOf, pointwiseRuleOf, movingRuleOf}) {
    if (auto rule = family(node, known)) {
      return rule;
    }
  }
  return std::nullopt;
}

}  // namespace torchtrt::lowering
