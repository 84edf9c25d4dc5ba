// Families whose outputs depend on the elements at the same place: activation, unary, elementwise, select, cast and
// their like.
#include <algorithm>
#include <array>

#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

constexpr std::array<std::string_view, 21> kActivations = {
    "relu",        "sigmoid",          "tanh",        "clip",        "leaky_relu",   "elu",      "selu",     "celu",
    "gelu_erf",    "gelu_tanh",        "silu",        "hard_swish",  "hard_sigmoid", "softplus", "softsign", "mish",
    "log_sigmoid", "thresholded_relu", "scaled_tanh", "hard_shrink", "soft_shrink"};

void checkActivation(const StepChecker& step) {
  step.requirePresent(1);
  const std::string& op = step.attributes().getString("op");
  if (!isActivation(op)) {
    step.requireOneOf(op, {}, "operation");
  }
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkParametricRelu(const StepChecker& step) {
  step.requirePresent(2);
  step.require(step.in(0).dtype == step.in(1).dtype, "its operands differ in element type");
  step.requireBroadcast(step.in(1).dims, step.in(0).dims);
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkUnary(const StepChecker& step) {
  step.requirePresent(1);
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(
      op, {"exp",    "log",   "sqrt",  "reciprocal", "abs",   "neg",         "sin",   "cos",   "tan",      "sinh",
           "cosh",   "asin",  "acos",  "atan",       "asinh", "acosh",       "atanh", "ceil",  "floor",    "round",
           "trunc",  "erf",   "erfc",  "sign",       "not",   "bitwise_not", "isinf", "isnan", "isfinite", "rsqrt",
           "square", "expm1", "log1p", "log2",       "log10", "exp2",        "frac",  "lgamma"},
      "operation");
  const bool to_bool = op == "not" || op == "isinf" || op == "isnan" || op == "isfinite";
  step.requireOutput(0, step.in(0).dims, to_bool ? DType::kBool : step.in(0).dtype);
}

void checkElementwise(const StepChecker& step) {
  step.requirePresent(2);
  const std::string& op = step.attributes().getString("op");
  constexpr std::array<std::string_view, 9> kToBool = {"and",  "or",         "xor",     "equal",        "not_equal",
                                                       "less", "less_equal", "greater", "greater_equal"};
  const bool to_bool = std::find(kToBool.begin(), kToBool.end(), op) != kToBool.end();
  if (!to_bool) {
    step.requireOneOf(op,
                      {"sum", "sub", "prod", "div", "floor_div", "trunc_div", "mod", "fmod", "pow", "max", "min",
                       "atan2", "bitwise_and", "bitwise_or", "bitwise_xor"},
                      "operation");
  }
  step.require(step.in(0).dtype == step.in(1).dtype, "its operands differ in element type");
  step.requireActivation();
  step.requireOutput(0, step.broadcast(step.in(0).dims, step.in(1).dims), to_bool ? DType::kBool : step.in(0).dtype);
}

void checkSelect(const StepChecker& step) {
  step.requirePresent(3);
  step.require(step.in(0).dtype == DType::kBool, "its condition is not bool");
  step.require(step.in(1).dtype == step.in(2).dtype, "its operands differ in element type");
  const Shape chosen = step.broadcast(step.in(1).dims, step.in(2).dims);
  step.requireOutput(0, step.broadcast(step.in(0).dims, chosen), step.in(1).dtype);
}

void checkCopy(const StepChecker& step) {
  step.requirePresent(1);
  step.requireOutput(0, step.in(0).dims, step.in(0).dtype);
}

void checkCast(const StepChecker& step) {
  step.requirePresent(1);
  step.requireOutput(0, step.in(0).dims, step.attributes().getDType("to"));
}

void checkFill(const StepChecker& step) {
  const std::string& op = step.attributes().getString("op");
  step.requireOneOf(op, {"constant", "arange"}, "operation");
  step.require(op == "constant" || step.dims("dims").size() == 1, "a range has not one dimension");
  step.requireOutput(0, step.dims("dims"), step.attributes().getDType("dtype"));
}

}  // namespace

bool isActivation(std::string_view op) {
  return std::find(kActivations.begin(), kActivations.end(), op) != kActivations.end() || op == "tanh_shrink";
}

bool checkPointwise(const StepChecker& step) {
  const std::string& family = step.step().family;
  if (family == "activation") {
    checkActivation(step);
  } else if (family == "parametric_relu") {
    checkParametricRelu(step);
  } else if (family == "unary") {
    checkUnary(step);
  } else if (family == "elementwise") {
    checkElementwise(step);
  } else if (family == "select") {
    checkSelect(step);
  } else if (family == "identity" || family == "reformat") {
    checkCopy(step);
  } else if (family == "cast") {
    checkCast(step);
  } else if (family == "fill") {
    checkFill(step);
  } else {
    return false;
  }
  return true;
}

}  // namespace torchtrt::plan
