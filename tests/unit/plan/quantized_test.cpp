// Hostile plans of steps of int8 and uint8: each is refused with its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "plan/plan.h"
#include "support/engine_call.h"
#include "support/plan_maker.h"

namespace torchtrt::plan {
namespace {

using torchtrt::testing::PlanMaker;
using Ints = std::vector<int64_t>;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string errorOfParsing(PlanMaker& make) {
  make.output("y", make.plan().steps.back().outputs[0]);
  return torchtrt::testing::errorOf([&] { parse(torchtrt::testing::bytesOf(serialize(make.plan())), nullptr); });
}

// One hostile attribute of what would be fine; see TheSmallestIsFine.
struct Change {
  const char* name = nullptr;
  AttributeValue value = int64_t{0};
};

void apply(const Change& change, PlanMaker& m) {
  if (change.name != nullptr) {
    m.lastStep().attributes.set(change.name, change.value);
  }
}

void quantize(PlanMaker& m, const Change& change = {}, DType from = DType::kFloat32, DType out = DType::kUInt8) {
  m.step(
      "quantize", {m.input("x", m.dims({4}), from)}, m.dims({4}),
      {{"to", DType::kUInt8}, {"scale", 0.5}, {"zero_point", int64_t{3}}, {"low", int64_t{0}}, {"high", int64_t{255}}},
      out);
  apply(change, m);
}

void dequantize(PlanMaker& m, const Change& change = {}, DType from = DType::kUInt8) {
  m.step("dequantize", {m.input("x", m.dims({4}), from)}, m.dims({4}), {{"scale", 0.5}});
  apply(change, m);
}

// 65,793 products: as many as there may be.
struct StepProduct {
  DType input = DType::kUInt8, kernel = DType::kInt8, scale = DType::kFloat32, residual = DType::kInt8;
  int64_t inner = 65793, columns = 2, scales = 2;
};

void quantizedMatmul(PlanMaker& m, const Change& change = {}, const StepProduct& product = {}) {
  const int32_t a = m.input("a", m.dims({1, 3, product.inner}), product.input);
  const int32_t b = m.input("b", m.dims({product.inner, product.columns}), product.kernel);
  const int32_t scale = m.input("s", m.dims({product.scales}), product.scale);
  const int32_t residual = m.input("r", m.dims({1, 3, product.columns}), product.residual);
  m.step("quantized_matrix_multiply", {a, b, scale, -1, residual}, m.dims({1, 3, 2}),
         {{"to", DType::kInt8}, {"low", int64_t{-127}}, {"high", int64_t{127}}}, DType::kInt8);
  apply(change, m);
}

void quantizedConvolution(PlanMaker& m, const Change& change = {}, const StepProduct& product = {}) {
  const int32_t x = m.input("x", m.dims({1, 2, 4, 4}), product.input);
  const int32_t w = m.input("w", m.dims({2, 2, 3, 3}), product.kernel);
  const int32_t scale = m.input("s", m.dims({product.scales}), product.scale);
  m.step("quantized_convolution", {x, w, scale}, m.dims({1, 2, 2, 2}),
         {{"stride", Ints{1, 1}},
          {"pre_padding", Ints{0, 0}},
          {"post_padding", Ints{0, 0}},
          {"dilation", Ints{1, 1}},
          {"to", DType::kFloat32}});
  apply(change, m);
}

struct Hostile {
  const char* name;
  std::function<void(PlanMaker&)> make;
  const char* message;
};

class HostileSteps : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileSteps, AreRefusedWithTheirReason) {
  PlanMaker make;
  GetParam().make(make);
  EXPECT_THAT(errorOfParsing(make), ::testing::HasSubstr(GetParam().message));
}

const Hostile kHostile[] = {
    {"QuantizeOfDoubles", [](PlanMaker& m) { quantize(m, {}, DType::kFloat64); }, "its input is not float32"},
    {"QuantizeToBool",
     [](PlanMaker& m) {
       quantize(m, {"to", DType::kBool}, DType::kFloat32, DType::kBool);
     },
     "it makes neither int8 nor uint8"},
    {"QuantizeToAnotherType", [](PlanMaker& m) { quantize(m, {}, DType::kFloat32, DType::kInt8); },
     "the element type of an output"},
    {"QuantizeByZero",
     [](PlanMaker& m) {
       quantize(m, {"scale", 0.0});
     },
     "a scale is not a normal float32"},
    {"QuantizeByLess",
     [](PlanMaker& m) {
       quantize(m, {"scale", -1.0});
     },
     "a scale is not a normal float32"},
    {"QuantizeByNaN",
     [](PlanMaker& m) {
       quantize(m, {"scale", kNaN});
     },
     "a scale is not a normal float32"},
    {"QuantizeByInfinity",
     [](PlanMaker& m) {
       quantize(m, {"scale", kInfinity});
     },
     "a scale is not a normal float32"},
    {"QuantizeByTooLittle",
     [](PlanMaker& m) {
       quantize(m, {"scale", 1e-39});
     },
     "a scale is not a normal float32"},
    {"QuantizeFarZero",
     [](PlanMaker& m) {
       quantize(m, {"zero_point", kHuge});
     },
     "a zero point or limit is out of range"},
    {"QuantizeLow",
     [](PlanMaker& m) {
       quantize(m, {"low", int64_t{-1}});
     },
     "a zero point or limit is out of range"},
    {"QuantizeHigh",
     [](PlanMaker& m) {
       quantize(m, {"high", int64_t{256}});
     },
     "a zero point or limit is out of range"},
    {"QuantizeUpsideDown",
     [](PlanMaker& m) {
       quantize(m, {"high", int64_t{0}});
       m.lastStep().attributes.set("low", int64_t{1});
     },
     "its limits are upside down"},
    {"DequantizeFloats", [](PlanMaker& m) { dequantize(m, {}, DType::kFloat32); },
     "a quantized operand is not int8 or uint8"},
    {"DequantizeByNaN",
     [](PlanMaker& m) {
       dequantize(m, {"scale", kNaN});
     },
     "a scale is not a normal float32"},
    {"DequantizeFarZero",
     [](PlanMaker& m) {
       dequantize(m, {"zero_point", int64_t{-1}});
     },
     "a zero point or limit is out of range"},
    {"ProductOfFloats", [](PlanMaker& m) { quantizedMatmul(m, {}, {.input = DType::kFloat32}); },
     "a quantized operand is not int8 or uint8"},
    {"ProductWithBytes", [](PlanMaker& m) { quantizedMatmul(m, {}, {.kernel = DType::kUInt8}); },
     "its second operand is not int8"},
    {"ProductTooLong", [](PlanMaker& m) { quantizedMatmul(m, {}, {.inner = 65794}); },
     "its sums are too long for int32"},
    {"ProductWithoutScale",
     [](PlanMaker& m) {
       quantizedMatmul(m);
       m.lastStep().inputs[2] = -1;
     },
     "the scale is missing"},
    {"ProductWithHalfScale", [](PlanMaker& m) { quantizedMatmul(m, {}, {.scale = DType::kFloat16}); },
     "not one float32 per channel"},
    {"ProductWithFewScales", [](PlanMaker& m) { quantizedMatmul(m, {}, {.scales = 1}); },
     "not one float32 per channel"},
    {"ProductWithBadBias",
     [](PlanMaker& m) {
       quantizedMatmul(m);
       m.lastStep().inputs[3] = m.input("bias", m.dims({3}));
     },
     "not one float32 per channel"},
    {"ProductOfAnotherWidth", [](PlanMaker& m) { quantizedMatmul(m, {}, {.columns = 3, .scales = 3}); },
     "the dimensions of an output"},
    {"ProductOfVectors",
     [](PlanMaker& m) {
       quantizedMatmul(m);
       m.lastStep().inputs[1] = m.lastStep().inputs[2];
     },
     "its operands have a wrong rank"},
    {"ProductFarZero",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"zero_point", int64_t{256}});
     },
     "a zero point or limit is out of range"},
    {"ProductResidualScale",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"residual_scale", 0.0});
     },
     "a scale is not a normal float32"},
    {"ProductResidualZero",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"residual_zero_point", int64_t{128}});
     },
     "a zero point or limit is out of range"},
    {"ProductResidualOfDoubles", [](PlanMaker& m) { quantizedMatmul(m, {}, {.residual = DType::kFloat64}); },
     "a quantized operand is not int8 or uint8"},
    {"ProductOutputScale",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"output_scale", 0.0});
     },
     "a scale is not a normal float32"},
    {"ProductOutputZero",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"output_zero_point", int64_t{-129}});
     },
     "a zero point or limit is out of range"},
    {"ProductToDoubles",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"to", DType::kFloat64});
     },
     "it makes neither int8 nor uint8"},
    {"ProductActivation",
     [](PlanMaker& m) {
       quantizedMatmul(m, {"activation", std::string("levitate")});
     },
     "the activation 'levitate'"},
    {"StepsConvolvedByFloats", [](PlanMaker& m) { quantizedConvolution(m, {}, {.kernel = DType::kFloat32}); },
     "its second operand is not int8"},
    {"StepsConvolvedTooFar",
     [](PlanMaker& m) {
       quantizedConvolution(m, {"dilation", Ints{1, 2}});
     },
     "the window is larger"},
    {"StepsConvolvedInGroups",
     [](PlanMaker& m) {
       quantizedConvolution(m, {"groups", int64_t{2}});
     },
     "the kernel's channels are not the input's"},
    {"StepsConvolvedToBytes",
     [](PlanMaker& m) {
       quantizedConvolution(m, {"to", DType::kUInt8});
     },
     "the element type of an output"},
    {"StepsConvolvedWithFewScales", [](PlanMaker& m) { quantizedConvolution(m, {}, {.scales = 1}); },
     "not one float32 per channel"},
};

INSTANTIATE_TEST_SUITE_P(EveryRule, HostileSteps, ::testing::ValuesIn(kHostile),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(QuantizedPlan, TheSmallestIsFine) {
  const std::function<void(PlanMaker&)> plans[] = {
      [](PlanMaker& m) { quantize(m); }, [](PlanMaker& m) { dequantize(m); }, [](PlanMaker& m) { quantizedMatmul(m); },
      [](PlanMaker& m) { quantizedConvolution(m); }};
  for (const auto& add : plans) {
    PlanMaker make;
    add(make);
    EXPECT_EQ(errorOfParsing(make), "");
  }
}

}  // namespace
}  // namespace torchtrt::plan
