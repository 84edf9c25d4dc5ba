// Hostile plans of integer weights: each is refused with its reason.
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

struct Product {
  int64_t bits = 4, group_size = 32;
  int64_t depth = 64, weight_bytes = 32, groups = 2;
  DType input = DType::kFloat32, weights = DType::kUInt8, scale = DType::kFloat32;
};

void add(PlanMaker& m, const Product& product = {}) {
  const int32_t a = m.input("a", m.dims({3, product.depth}), product.input);
  const int32_t w = m.input("w", m.dims({5, product.weight_bytes}), product.weights);
  const int32_t scale = m.input("s", m.dims({5, product.groups}), product.scale);
  const int32_t offset = m.input("o", m.dims({5, product.groups}), product.scale);
  m.step("integer_weight_matrix_multiply", {a, w, scale, offset}, m.dims({3, 5}),
         {{"bits", product.bits}, {"group_size", product.group_size}}, product.input);
}

std::string errorOfParsing(PlanMaker& make) {
  make.output("y", make.plan().steps.back().outputs[0]);
  return torchtrt::testing::errorOf([&] { parse(torchtrt::testing::bytesOf(serialize(make.plan())), nullptr); });
}

struct Hostile {
  const char* name;
  std::function<void(PlanMaker&)> make;
  const char* message;
};

class HostileWeights : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileWeights, AreRefusedWithTheirReason) {
  PlanMaker make;
  GetParam().make(make);
  EXPECT_THAT(errorOfParsing(make), ::testing::HasSubstr(GetParam().message));
}

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr const char* kGroups = "groups of weights do not divide the depth";

const Hostile kHostile[] = {
    {"Bits", [](PlanMaker& m) { add(m, {.bits = 5}); }, "an attribute is out of range"},
    {"NoBits", [](PlanMaker& m) { add(m, {.bits = 0}); }, "an attribute is out of range"},
    {"NoGroups", [](PlanMaker& m) { add(m, {.group_size = 0}); }, "an attribute is out of range"},
    {"HugeGroups", [](PlanMaker& m) { add(m, {.group_size = kHuge}); }, kGroups},
    {"OtherGroups", [](PlanMaker& m) { add(m, {.groups = 3}); }, kGroups},
    {"GroupsOfOtherDepth", [](PlanMaker& m) { add(m, {.group_size = 48}); }, kGroups},
    {"Depth", [](PlanMaker& m) { add(m, {.depth = 32}); }, "the inner dimensions of its operands differ"},
    {"OddBytes", [](PlanMaker& m) { add(m, {.weight_bytes = 31}); }, "the inner dimensions of its operands differ"},
    {"Float64", [](PlanMaker& m) { add(m, {.input = DType::kFloat64}); }, "not defined for the input's element type"},
    {"SignedHalves", [](PlanMaker& m) { add(m, {.weights = DType::kInt8}); }, "an operand has a wrong element type"},
    {"UnsignedBytes", [](PlanMaker& m) { add(m, {.bits = 8, .weight_bytes = 64}); },
     "an operand has a wrong element type"},
    {"HalfScale", [](PlanMaker& m) { add(m, {.scale = DType::kFloat16}); }, "an operand has a wrong element type"},
    {"NoScale",
     [](PlanMaker& m) {
       add(m);
       m.lastStep().inputs[2] = -1;
     },
     "weights or scale are missing"},
    {"NoWeights",
     [](PlanMaker& m) {
       add(m);
       m.lastStep().inputs[1] = -1;
     },
     "weights or scale are missing"},
    {"VectorOfScales",
     [](PlanMaker& m) {
       add(m);
       m.lastStep().inputs[2] = m.input("v", m.dims({5}));
     },
     "its operands have a wrong rank"},
    {"Bias",
     [](PlanMaker& m) {
       add(m);
       m.lastStep().inputs.push_back(m.input("b", m.dims({3})));
     },
     "the bias has not one element per row of the weights"},
    {"Residual",
     [](PlanMaker& m) {
       add(m);
       m.lastStep().inputs.push_back(-1);
       m.lastStep().inputs.push_back(m.input("r", m.dims({5, 3})));
     },
     "the residual has not the output's dimensions"},
};

INSTANTIATE_TEST_SUITE_P(Plan, HostileWeights, ::testing::ValuesIn(kHostile),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IntegerWeights, AreFine) {
  PlanMaker make;
  add(make);
  EXPECT_EQ(errorOfParsing(make), "");
  PlanMaker bytes;
  add(bytes, {.bits = 8, .weight_bytes = 64, .weights = DType::kInt8});
  EXPECT_EQ(errorOfParsing(bytes), "");
}

}  // namespace
}  // namespace torchtrt::plan
