#include <ATen/Context.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <string>

#include "lowering/passes/quantization.h"

// Operators that move quantized values, take the largest of them, average them, or ask for their sizes.

namespace torchtrt::lowering {
namespace {

using torch::jit::Node;
using torch::jit::Value;

const std::set<std::string>& moving() {
  static const std::set<std::string> kinds = {
      "aten::reshape", "aten::flatten",    "aten::permute",   "aten::transpose",        "aten::t",
      "aten::slice",   "aten::select",     "aten::narrow",    "aten::unsqueeze",        "aten::squeeze",
      "aten::chunk",   "aten::split",      "aten::unbind",    "aten::split_with_sizes", "prim::ListUnpack",
      "aten::clone",   "aten::contiguous", "aten::max_pool2d"};
  return kinds;
}

const std::set<std::string>& asking() {
  static const std::set<std::string> kinds = {"aten::size", "aten::dim"};
  return kinds;
}

// The same operator on centered integers.
std::vector<Value*> repeated(Node* node, FloatBuilder& builder, Value* quantized, Value* centered) {
  Node* copy = builder.graph().createClone(node, [&](Value* v) { return v == quantized ? centered : v; });
  return builder.graph().insertNode(copy)->outputs().vec();
}

// Lists of quantized tensors are followed where they are taken apart, and nowhere else.
bool isTakenApart(const Node& node) {
  return std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* output) {
    return output->type()->kind() != c10::TypeKind::ListType ||
           std::all_of(output->uses().begin(), output->uses().end(),
                       [](const auto& use) { return use.user->kind() == torch::jit::prim::ListUnpack; });
  });
}

// Averages are exact sums times step / (step * their number) as QNNPACK has it, or 1 / number, which PyTorch's own code
// has; this rounds halves half to even for channels-last tensors alone.
std::optional<float> stepOfAverages(const Quantization& quantization) {
  if (at::globalContext().qEngine() == at::QEngine::QNNPACK && quantization.dtype == c10::kQUInt8) {
    return quantization.step();
  }
  return quantization.channels_last ? std::optional(1.0F) : std::nullopt;
}

std::vector<int64_t> constantInts(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isIntList() ? constant->toIntVector() : std::vector<int64_t>();
}

// Returns the number of values in a window, from input, kernel size, stride, padding, ceil mode, count include pad,
// divisor.
std::optional<int64_t> countOf(const Node& node) {
  const std::vector<int64_t> kernel = constantInts(node.input(1));
  const std::vector<int64_t> padding = constantInts(node.input(3));
  const auto ceil_mode = torch::jit::constant_as<bool>(node.input(4));
  const auto with_padding = torch::jit::constant_as<bool>(node.input(5));
  const auto divisor = torch::jit::toIValue(node.input(6));
  const bool pads = padding.empty() || std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p != 0; });
  if (kernel.empty() || !ceil_mode || *ceil_mode || !with_padding || (pads && !*with_padding) || !divisor ||
      !divisor->isNone()) {
    return std::nullopt;
  }
  const int64_t count = kernel.front() * kernel.back();
  return count * 255 < (1 << 24) ? std::optional(count) : std::nullopt;  // sums are exact in float32
}

Value* windowAverage(Node* node, FloatBuilder& builder, Value* x, float factor) {
  const auto input = [&](size_t i) { return torch::jit::NamedValue(node->input(i)); };
  Value* sum = builder.call("aten::avg_pool2d", {x, input(1), input(2), input(3), input(4), input(5), int64_t{1}});
  sum = builder.call("aten::round", {sum});  // which keeps the factor out of the pooling
  return builder.call("aten::round", {builder.call("aten::mul", {sum, static_cast<double>(factor)})});
}

// Averages planes of any size, so the sum is in float64.
Value* globalAverage(FloatBuilder& builder, Value* x, float step) {
  const std::vector<int64_t> axes = {-2, -1};
  Value* sum = builder.call("aten::sum", {x, axes, true}, {{"dtype", static_cast<int64_t>(at::kDouble)}});
  Value* count = builder.call("aten::mul", {builder.call("aten::size", {x, int64_t{-2}}),  //
                                            builder.call("aten::size", {x, int64_t{-1}})});
  Value* one = builder.constant(at::full({}, step, at::kFloat));
  Value* factor = builder.call("aten::div", {one, builder.call("aten::mul", {one, count})});
  return builder.call("aten::round", {builder.call("aten::mul", {builder.cast(sum, at::kFloat), factor})});
}

}  // namespace

std::optional<QuantizedRule> movingRuleOf(Node* node, const QuantizedValues& known) {
  const auto input = node->inputs().empty() ? known.end() : known.find(node->input(0));
  if (input == known.end()) {
    return std::nullopt;
  }
  Quantization result = input->second;
  Value* quantized = node->input(0);
  const std::string kind = node->kind().toQualString();
  if (kind == "aten::avg_pool2d" || kind == "aten::adaptive_avg_pool2d") {
    const bool global = kind == "aten::adaptive_avg_pool2d";
    const auto step = stepOfAverages(result);
    const auto count = global ? std::nullopt : countOf(*node);
    if (!step || (global ? constantInts(node->input(1)) != std::vector<int64_t>{1, 1} : !count)) {
      return std::nullopt;
    }
    return QuantizedRule{{quantized}, result, [=](FloatBuilder& builder, const std::vector<Value*>& x) {
                           return std::vector<Value*>{
                               global
                                   ? globalAverage(builder, x[0], *step)
                                   : windowAverage(node, builder, x[0], *step / (*step * static_cast<float>(*count)))};
                         }};
  }
  const bool asks = asking().count(kind) != 0;
  if (!asks && (!moving().count(kind) || !isTakenApart(*node))) {
    return std::nullopt;
  }
  result.channels_last &= kind == "aten::max_pool2d";
  return QuantizedRule{{quantized},
                       asks ? std::nullopt : std::optional(result),
                       [node, quantized](FloatBuilder& builder, const std::vector<Value*>& x) {
                         return repeated(node, builder, quantized, x[0]);
                       }};
}

}  // namespace torchtrt::lowering
