#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "base/operations.h"
#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case activation(DType dtype, const Ints& dims, const Values& in, const std::string& op, double alpha = 0,
                double beta = 0) {
  return {"activation",
          makeAttributes({{"op", op}, {"alpha", alpha}, {"beta", beta}}),
          {makeTensor(dtype, dims, in)},
          {{dtype, dims}}};
}

Case unary(DType dtype, const Values& in, const std::string& op, DType out) {
  const auto count = static_cast<int64_t>(in.size());
  return {"unary", makeAttributes({{"op", op}}), {makeTensor(dtype, {count}, in)}, {{out, {count}}}};
}

Case binary(DType dtype, const Values& a, const Values& b, const std::string& op, DType out) {
  const auto count = static_cast<int64_t>(a.size());
  return {"elementwise",
          makeAttributes({{"op", op}}),
          {makeTensor(dtype, {count}, a), makeTensor(dtype, {count}, b)},
          {{out, {count}}}};
}

Values mapped(const Values& values, const std::function<double(double)>& function) {
  Values result;
  for (const double value : values) {
    result.push_back(function(value));
  }
  return result;
}

struct Curve {
  const char* op;
  double alpha, beta;
  std::function<double(double)> function;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

const Curve kCurves[] = {
    {"relu", 0, 0, [](double x) { return std::max(x, 0.0); }},
    {"sigmoid", 0, 0, sigmoid},
    {"tanh", 0, 0, [](double x) { return 2 * sigmoid(2 * x) - 1; }},
    {"clip", -1, 2, [](double x) { return std::min(std::max(x, -1.0), 2.0); }},
    {"clip", 3, 1, [](double) { return 1.0; }},
    {"leaky_relu", 0.25, 0, [](double x) { return x > 0 ? x : x / 4; }},
    {"elu", 2, 0, [](double x) { return x > 0 ? x : 2 * (std::exp(x) - 1); }},
    {"selu", 0, 0, [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1)); }},
    {"celu", 0.5, 0, [](double x) { return x > 0 ? x : 0.5 * (std::exp(x / 0.5) - 1); }},
    {"gelu_erf", 0, 0, [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
    {"gelu_tanh", 0, 0, [](double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }},
    {"silu", 0, 0, [](double x) { return x * sigmoid(x); }},
    {"hard_swish", 0, 0, [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
    {"hard_sigmoid", 0.25, 0.5, [](double x) { return std::min(std::max(x / 4 + 0.5, 0.0), 1.0); }},
    {"softplus", 2, 5, [](double x) { return 2 * x > 5 ? x : std::log(1 + std::exp(2 * x)) / 2; }},
    {"softsign", 0, 0, [](double x) { return x / (1 + std::fabs(x)); }},
    {"mish", 0, 0, [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }},
    {"log_sigmoid", 0, 0, [](double x) { return -std::log(1 + std::exp(-x)); }},
    {"thresholded_relu", 0.5, -2, [](double x) { return x > 0.5 ? x : -2; }},
    {"scaled_tanh", 1.5, 0.5, [](double x) { return 1.5 * std::tanh(x / 2); }},
    {"hard_shrink", 0.5, 0, [](double x) { return std::fabs(x) > 0.5 ? x : 0; }},
    {"soft_shrink", 0.5, 0, [](double x) { return std::fabs(x) > 0.5 ? x - std::copysign(0.5, x) : 0; }},
    {"tanh_shrink", 0, 0, [](double x) { return x - std::tanh(x); }},
};

TEST(Activation, FollowsItsFormulaForEveryFloatingType) {
  for (const Curve& curve : kCurves) {
    for (const DType dtype : kFloatingDTypes) {
      const Values in = mixedValues(2 * 3 * 5, dtype);
      expectOutputs(activation(dtype, {2, 3, 5}, in, curve.op, curve.alpha, curve.beta), {mapped(in, curve.function)});
    }
  }
}

TEST(Activation, HasAFormulaForEachOfTheTable) {
  for (const Operation& each : activations()) {
    const bool is_there =
        std::any_of(std::begin(kCurves), std::end(kCurves), [&](const Curve& curve) { return curve.op == each.name; });
    EXPECT_TRUE(is_there) << each.name;
  }
}

TEST(Activation, HandsNanOnUnlessItIsConstant) {
  for (const Curve& curve : kCurves) {
    EXPECT_TRUE(std::isnan(runOne(activation(DType::kFloat32, {1}, {kNan}, curve.op, curve.alpha, curve.beta))[0]))
        << curve.op;
  }
}

TEST(Activation, StaysFiniteWhereTheFunctionIs) {
  for (const char* op : {"silu", "mish", "gelu_erf", "gelu_tanh", "softplus", "log_sigmoid", "sigmoid", "hard_swish"}) {
    const Values out = runOne(activation(DType::kFloat32, {2}, {-1000, 1000}, op, 1, 20));
    EXPECT_TRUE(std::isfinite(out[0]) && std::isfinite(out[1])) << op;
  }
}

TEST(Activation, TakesIntegersScalarsAndEmptyTensors) {
  for (const DType dtype : kIntegerDTypes) {
    const Values in = {0, 1, 5, 9, 100};
    expectOutputs(activation(dtype, {5}, in, "clip", 1, 6), {{1, 1, 5, 6, 6}});
  }
  expectOutputs(activation(DType::kInt32, {3}, {-5, 0, 5}, "relu"), {{0, 0, 5}});
  expectOutputs(activation(DType::kInt32, {2}, {-5, 5}, "clip", -kInf, kInf), {{-5, 5}});
  expectOutputs(activation(DType::kFloat32, {}, {-2}, "relu"), {{0}});
  expectOutputs(activation(DType::kFloat32, {3, 0, 2}, {}, "relu"), {{}});
}

TEST(Activation, IsTheSameInLongTensorsOnAnyNumberOfThreads) {
  const Values in = mixedValues(40 * 1031, DType::kFloat32);
  const Case layer = activation(DType::kFloat32, {40, 1031}, in, "tanh");
  EXPECT_EQ(run(layer, Layout::kRowMajor, 1)[0].values(), run(layer, Layout::kColumnMajor, 3)[0].values());
}

TEST(Unary, MatchesTheStandardFunctionForEveryFloatingType) {
  const std::map<std::string, double (*)(double)> functions = {
      {"exp", std::exp},     {"log", std::log},      {"sqrt", std::sqrt},   {"abs", std::fabs},
      {"sin", std::sin},     {"cos", std::cos},      {"tan", std::tan},     {"sinh", std::sinh},
      {"cosh", std::cosh},   {"asin", std::asin},    {"acos", std::acos},   {"atan", std::atan},
      {"asinh", std::asinh}, {"acosh", std::acosh},  {"atanh", std::atanh}, {"ceil", std::ceil},
      {"floor", std::floor}, {"trunc", std::trunc},  {"erf", std::erf},     {"erfc", std::erfc},
      {"expm1", std::expm1}, {"log1p", std::log1p},  {"log2", std::log2},   {"log10", std::log10},
      {"exp2", std::exp2},   {"lgamma", std::lgamma}};
  for (const auto& [op, function] : functions) {
    for (const DType dtype : kFloatingDTypes) {
      const Values in = mixedValues(24, dtype);
      expectOutputs(unary(dtype, in, op, dtype), {mapped(in, function)});
    }
  }
}

TEST(Unary, ComputesTheOtherFunctions) {
  const Values in = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 4};
  const std::map<std::string, Values> expected = {{"neg", {2.5, 1.5, 0.5, -0.5, -1.5, -2.5, -4}},
                                                  {"round", {-2, -2, 0, 0, 2, 2, 4}},
                                                  {"reciprocal", {-0.4, -2 / 3.0, -2, 2, 2 / 3.0, 0.4, 0.25}},
                                                  {"sign", {-1, -1, -1, 1, 1, 1, 1}},
                                                  {"square", {6.25, 2.25, 0.25, 0.25, 2.25, 6.25, 16}},
                                                  {"frac", {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5, 0}}};
  for (const auto& [op, values] : expected) {
    for (const DType dtype : kFloatingDTypes) {
      expectOutputs(unary(dtype, in, op, dtype), {values});
    }
  }
  expectOutputs(unary(DType::kFloat32, {4, 0, 0.25}, "rsqrt", DType::kFloat32), {{0.5, kInf, 2}});
  expectOutputs(unary(DType::kFloat32, {kNan, kInf}, "sign", DType::kFloat32), {{0, 1}});
}

TEST(Unary, PredicatesGiveBool) {
  const Values in = {0, 1, kNan, kInf, -kInf};
  for (const DType dtype : kFloatingDTypes) {
    expectOutputs(unary(dtype, in, "isnan", DType::kBool), {{0, 0, 1, 0, 0}});
    expectOutputs(unary(dtype, in, "isinf", DType::kBool), {{0, 0, 0, 1, 1}});
    expectOutputs(unary(dtype, in, "isfinite", DType::kBool), {{1, 1, 0, 0, 0}});
    expectOutputs(unary(dtype, in, "not", DType::kBool), {{1, 0, 0, 0, 0}});
  }
  expectOutputs(unary(DType::kInt8, {0, 3}, "not", DType::kBool), {{1, 0}});
  expectOutputs(unary(DType::kInt64, {0, 3}, "isfinite", DType::kBool), {{1, 1}});
}

TEST(Unary, IntegersWrap) {
  expectOutputs(unary(DType::kInt8, {-128, -1, 5}, "abs", DType::kInt8), {{-128, 1, 5}});
  expectOutputs(unary(DType::kInt8, {-128, -1, 5}, "neg", DType::kInt8), {{-128, 1, -5}});
  expectOutputs(unary(DType::kUInt8, {1, 255}, "neg", DType::kUInt8), {{255, 1}});
  expectOutputs(unary(DType::kUInt8, {1, 255}, "bitwise_not", DType::kUInt8), {{254, 0}});
  expectOutputs(unary(DType::kBool, {1, 0}, "bitwise_not", DType::kBool), {{0, 1}});
  expectOutputs(unary(DType::kInt32, {65536, 3}, "square", DType::kInt32), {{0, 9}});
  expectOutputs(unary(DType::kInt16, {-7, 7}, "round", DType::kInt16), {{-7, 7}});
}

TEST(Elementwise, DividesAndTakesRemaindersLikePython) {
  const Values a = {7, -7, 7, -7, 6, 0};
  const Values b = {3, 3, -3, -3, 3, 3};
  const std::map<std::string, Values> expected = {{"floor_div", {2, -3, -3, 2, 2, 0}},
                                                  {"trunc_div", {2, -2, -2, 2, 2, 0}},
                                                  {"mod", {1, 2, -2, -1, 0, 0}},
                                                  {"fmod", {1, -1, 1, -1, 0, 0}}};
  for (const auto& [op, values] : expected) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
                              DType::kInt16, DType::kInt32, DType::kInt64}) {
      expectOutputs(binary(dtype, a, b, op, dtype), {values});
    }
  }
  expectOutputs(binary(DType::kFloat32, {1, -1, 0}, {0, 0, 0}, "floor_div", DType::kFloat32), {{kInf, -kInf, kNan}});
  // 1 / 0.1 is 10 when rounded, but 0.1 is a little more than a tenth.
  expectOutputs(binary(DType::kFloat64, {1}, {0.1}, "floor_div", DType::kFloat64), {{9}});
}

TEST(Elementwise, IntegerDivisionByZeroIsAnError) {
  for (const char* op : {"floor_div", "trunc_div", "mod", "fmod"}) {
    try {
      runOne(binary(DType::kInt32, {1, 1}, {1, 0}, op, DType::kInt32));
      FAIL() << op;
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDivisionByZero);
    }
  }
}

TEST(Elementwise, MaximumAndMinimumPropagateNan) {
  const Values a = {1, kNan, 1, kNan, -kInf};
  const Values b = {2, 2, kNan, kNan, 3};
  for (const DType dtype : kFloatingDTypes) {
    expectOutputs(binary(dtype, a, b, "max", dtype), {{2, kNan, kNan, kNan, 3}});
    expectOutputs(binary(dtype, a, b, "min", dtype), {{1, kNan, kNan, kNan, -kInf}});
  }
}

TEST(Elementwise, ArithmeticOfEveryType) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    const Values a = {4, 2, 3}, b = {2, 2, 1};
    expectOutputs(binary(dtype, a, b, "sum", dtype), {{6, 4, 4}});
    expectOutputs(binary(dtype, a, b, "sub", dtype), {{2, 0, 2}});
    expectOutputs(binary(dtype, a, b, "prod", dtype), {{8, 4, 3}});
    expectOutputs(binary(dtype, a, b, "pow", dtype), {{16, 4, 3}});
    expectOutputs(binary(dtype, a, b, "max", dtype), {{4, 2, 3}});
  }
  expectOutputs(binary(DType::kFloat32, {1, 1}, {4, 0}, "div", DType::kFloat32), {{0.25, kInf}});
  expectOutputs(binary(DType::kFloat64, {1, -1}, {1, 0}, "atan2", DType::kFloat64), {{M_PI / 4, -M_PI / 2}});
  expectOutputs(binary(DType::kUInt8, {200, 1}, {100, 2}, "sum", DType::kUInt8), {{44, 3}});
  expectOutputs(binary(DType::kUInt8, {1}, {2}, "sub", DType::kUInt8), {{255}});
  expectOutputs(binary(DType::kInt8, {100}, {100}, "prod", DType::kInt8), {{16}});
  expectOutputs(binary(DType::kBool, {1, 1, 0}, {1, 0, 0}, "sum", DType::kBool), {{1, 1, 0}});
}

TEST(Elementwise, LogicAndComparisonsGiveBool) {
  const std::map<std::string, Values> expected = {
      {"and", {0, 0, 1, 1}},        {"or", {0, 1, 1, 1}},        {"xor", {0, 1, 0, 0}},
      {"equal", {1, 0, 0, 1}},      {"not_equal", {0, 1, 1, 0}}, {"less", {0, 1, 0, 0}},
      {"less_equal", {1, 1, 0, 1}}, {"greater", {0, 0, 1, 0}},   {"greater_equal", {1, 0, 1, 1}}};
  for (const auto& [op, values] : expected) {
    for (const DType dtype : kAllDTypes) {
      if (dtype != DType::kBool) {
        expectOutputs(binary(dtype, {0, 0, 3, 2}, {0, 2, 1, 2}, op, DType::kBool), {values});
      }
    }
  }
  expectOutputs(binary(DType::kFloat32, {kNan, kNan}, {kNan, 1}, "not_equal", DType::kBool), {{1, 1}});
  expectOutputs(binary(DType::kFloat32, {kNan, kNan}, {kNan, 1}, "less_equal", DType::kBool), {{0, 0}});
}

TEST(Elementwise, BitwiseOperators) {
  for (const DType dtype : kIntegerDTypes) {
    expectOutputs(binary(dtype, {12}, {10}, "bitwise_and", dtype), {{8}});
    expectOutputs(binary(dtype, {12}, {10}, "bitwise_or", dtype), {{14}});
    expectOutputs(binary(dtype, {12}, {10}, "bitwise_xor", dtype), {{6}});
  }
  expectOutputs(binary(DType::kBool, {1, 1}, {1, 0}, "bitwise_xor", DType::kBool), {{0, 1}});
}

TEST(Elementwise, Broadcasts) {
  const Case layer = {"elementwise",
                      makeAttributes({{"op", "sum"}}),
                      {makeTensor(DType::kInt32, {2, 1, 3}, iota(6)), makeTensor(DType::kInt32, {2, 1}, {10, 20})},
                      {{DType::kInt32, {2, 2, 3}}}};
  expectOutputs(layer, {{10, 11, 12, 20, 21, 22, 13, 14, 15, 23, 24, 25}});
  const Case stride_zero = {"elementwise",
                            makeAttributes({{"op", "prod"}}),
                            {makeTensor(DType::kInt32, {2, 2}, iota(4)), broadcastTensor(DType::kInt32, {2, 2}, 3)},
                            {{DType::kInt32, {2, 2}}}};
  expectOutputs(stride_zero, {{0, 3, 6, 9}});
  const Case empty = {"elementwise",
                      makeAttributes({{"op", "sum"}}),
                      {makeTensor(DType::kFloat32, {0, 3}, {}), makeTensor(DType::kFloat32, {3}, iota(3))},
                      {{DType::kFloat32, {0, 3}}}};
  expectOutputs(empty, {{}});
}

TEST(Elementwise, FusedActivationRoundsOnceAndSeesWrappedIntegers) {
  Case layer = binary(DType::kFloat16, {1}, {0x1p-11}, "sum", DType::kFloat16);  // the sum is a tie in float16
  layer.attributes.set("activation", "thresholded_relu");
  layer.attributes.set("activation_alpha", 1.0);
  layer.attributes.set("activation_beta", -1.0);
  expectOutputs(layer, {{1}});  // above 1 before it is rounded to 1
  Case wrapped = binary(DType::kInt8, {100, 100}, {100, 1}, "sum", DType::kInt8);
  wrapped.attributes.set("activation", "relu");
  expectOutputs(wrapped, {{0, 101}});
}

TEST(ParametricRelu, ScalesNegativesPerChannel) {
  for (const DType dtype : kFloatingDTypes) {
    const Case layer = {"parametric_relu",
                        {},
                        {makeTensor(dtype, {1, 2, 2}, {-2, 3, -4, 5}), makeTensor(dtype, {2, 1}, {0.5, 0.25})},
                        {{dtype, {1, 2, 2}}}};
    expectOutputs(layer, {{-1, 3, -1, 5}});
  }
}

TEST(Select, TakesWhereTheConditionHolds) {
  for (const DType dtype : kAllDTypes) {
    const Case layer = {
        "select",
        {},
        {makeTensor(DType::kBool, {2, 1}, {1, 0}), makeTensor(dtype, {3}, {1, 0, 1}), makeTensor(dtype, {}, {0})},
        {{dtype, {2, 3}}}};
    expectOutputs(layer, {{1, 0, 1, 0, 0, 0}});
  }
  const Case alternating = {"select",
                            {},
                            {makeTensor(DType::kBool, {5}, {1, 0, 0, 1, 1}), makeTensor(DType::kFloat64, {5}, iota(5)),
                             makeTensor(DType::kFloat64, {5}, iota(5, 10))},
                            {{DType::kFloat64, {5}}}};
  expectOutputs(alternating, {{0, 11, 12, 3, 4}});
}

TEST(Cast, BetweenAllTypes) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      const Values in = from == DType::kBool ? Values{0, 1} : Values{0, 3};
      const Case layer = {"cast", makeAttributes({{"to", to}}), {makeTensor(from, {1, 2}, in)}, {{to, {1, 2}}}};
      const bool to_bool = to == DType::kBool || from == DType::kBool;
      expectOutputs(layer, {{0, to_bool ? 1.0 : 3.0}});
    }
  }
}

TEST(Fill, ConstantsAndRanges) {
  for (const DType dtype : kAllDTypes) {
    const Case constant = {"fill",
                           makeAttributes({{"op", "constant"}, {"value", 1.0}, {"int_value", 1}}),
                           {},
                           {{dtype, {2, 3}}},
                           {{"dims", {2, 3}}}};
    expectOutputs(constant, {Values(6, 1)});
  }
  const Case floats = {"fill",
                       makeAttributes({{"op", "arange"}, {"value", 0.5}, {"step", -0.25}}),
                       {},
                       {{DType::kFloat32, {4}}},
                       {{"dims", {4}}}};
  expectOutputs(floats, {{0.5, 0.25, 0, -0.25}});
  const Case integers = {"fill",
                         makeAttributes({{"op", "arange"}, {"int_value", 5}, {"int_step", 3}}),
                         {},
                         {{DType::kInt64, {2000}}},
                         {{"dims", {2000}}}};
  expectOutputs(integers, {iota(2000, 5, 3)});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
