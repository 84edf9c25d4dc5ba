#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "plan/plan.h"
#include "small_plan.h"
#include "support/engine_call.h"

namespace torchtrt::plan {
namespace {

using ::testing::HasSubstr;
using torchtrt::testing::errorOf;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

int64_t compute(Op op, int64_t a, int64_t b) {
  Plan plan;
  plan.program = {{Op::kConstant, 0, 0, a}, {Op::kConstant, 0, 0, b}, {op, 0, 1, 0}};
  std::vector<int64_t> registers;
  runProgram(plan, {}, registers);
  return registers[2];
}

TEST(ShapeProgram, ComputesAsPythonDoes) {
  EXPECT_EQ(compute(Op::kAdd, 3, -5), -2);
  EXPECT_EQ(compute(Op::kMul, 3, -5), -15);
  EXPECT_EQ(compute(Op::kFloorDiv, 7, 2), 3);
  EXPECT_EQ(compute(Op::kFloorDiv, -7, 2), -4);
  EXPECT_EQ(compute(Op::kFloorDiv, 7, -2), -4);
  EXPECT_EQ(compute(Op::kFloorDiv, -8, 2), -4);
  EXPECT_EQ(compute(Op::kMod, -7, 3), 2);
  EXPECT_EQ(compute(Op::kMod, 7, -3), -2);
  EXPECT_EQ(compute(Op::kMax, -7, 3), 3);
  EXPECT_EQ(compute(Op::kMin, -7, 3), -7);
  EXPECT_EQ(compute(Op::kMod, kLeast, -1), 0);
}

TEST(ShapeProgram, OverflowAndDivisionByZeroAreErrors) {
  EXPECT_THAT(errorOf([] { compute(Op::kAdd, kMost, 1); }), HasSubstr("[E010]"));
  EXPECT_THAT(errorOf([] { compute(Op::kMul, kMost, 2); }), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(errorOf([] { compute(Op::kFloorDiv, kLeast, -1); }), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(errorOf([] { compute(Op::kFloorDiv, 1, 0); }), HasSubstr("division of 1 by zero"));
  EXPECT_THAT(errorOf([] { compute(Op::kMod, 1, 0); }), HasSubstr("division of 1 by zero"));
}

TEST(ShapeProgram, PrintsExpressions) {
  Plan plan;
  plan.symbols = {{"n", 1, 2, 3}, {"m", 1, 2, 3}};
  plan.program = {{Op::kSymbol, 0, 0, 0}, {Op::kSymbol, 1, 0, 0},   {Op::kConstant, 0, 0, -2}, {Op::kAdd, 0, 2, 0},
                  {Op::kMul, 3, 1, 0},    {Op::kFloorDiv, 4, 0, 0}, {Op::kMax, 5, 2, 0},       {Op::kMod, 6, 1, 0}};
  EXPECT_EQ(printRegister(plan, 4), "(n-2)*m");
  EXPECT_EQ(printRegister(plan, 6), "max(((n-2)*m)//n,-2)");
  EXPECT_EQ(printRegister(plan, 7), "(max(((n-2)*m)//n,-2))%m");
}

TEST(ShapeProgram, PrintingExpressionsThatDoubleStaysShort) {
  Plan plan;
  plan.symbols = {{"n", 1, 2, 3}};
  plan.program = {{Op::kSymbol, 0, 0, 0}};
  for (uint32_t i = 0; i < 200; ++i) {
    plan.program.push_back({Op::kMax, i, i, 0});
  }
  EXPECT_LT(printRegister(plan, 200).size(), 400U);
}

TEST(CheckedBytes, CountsAndRefuses) {
  EXPECT_EQ(checkedBytes(std::vector<int64_t>{2, 3}, DType::kFloat32), 24U);
  EXPECT_EQ(checkedBytes(std::vector<int64_t>{}, DType::kInt64), 8U);
  EXPECT_EQ(checkedBytes(std::vector<int64_t>{4, 0}, DType::kInt64), 0U);
  EXPECT_THAT(errorOf([] { checkedBytes(std::vector<int64_t>{-1}, DType::kInt8); }), HasSubstr("a dimension of -1"));
  EXPECT_THAT(errorOf([] { checkedBytes(std::vector<int64_t>{kMost, 0, 2}, DType::kInt8); }), HasSubstr("2^63"));
}

TEST(PrintedPlan, IsExact) {
  EXPECT_EQ(print(smallPlan(), std::vector<std::string>{"[reference]"}),
            R"(plan "small" (format 1.5, made by torchtrt test)
symbol n in [1, 4, 8]
option precision = float32
input "x" %0
output "y" %3
output "z" %4
weights
  @0 float32[3] 12 bytes )" +
                smallPlan().weights[0].hash + R"(
tensors
  %0 "x" : float32[n, 3]
  %1 "w" : float32[3] = @0
  %2 "elementwise0" : float32[n, 3]
  %3 "activation1" : float32[n, 3]
  %4 "z" : float32[3*n] view of %3
steps
  0 elementwise "elementwise0" (%0, %1) -> (%2) {activation="", activation_alpha=0, activation_beta=0, op="sum"}  # model.py:12:4 (head)  [reference]
  1 activation "activation1" (%2) -> (%3) {alpha=0, beta=0, op="relu"}
)");
}

}  // namespace
}  // namespace torchtrt::plan
