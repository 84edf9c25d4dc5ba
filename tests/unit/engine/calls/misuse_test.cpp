#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using ::testing::AllOf;
using testing::callEngine;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::PlanMaker;

std::string errorOfCall(const Engine& engine, const std::vector<HostTensor>& inputs) {
  return errorOf([&] { callEngine(engine, inputs); });
}

TEST(Misuse, TheNumberOfInputs) {
  const auto engine = smallEngine();
  EXPECT_THAT(errorOfCall(*engine, {}), HasSubstr("[E003] engine 'small': expected 1 inputs, got 0"));
  const HostTensor x = HostTensor::counting({1, 3});
  callEngine(*engine, {x});
  EXPECT_THAT(errorOfCall(*engine, {x, x}), HasSubstr("[E003] engine 'small': expected 1 inputs, got 2"));
}

TEST(Misuse, TheElementType) {
  const auto engine = smallEngine();
  const HostTensor x = HostTensor::counting({1, 3});
  callEngine(*engine, {x});
  TensorView view = x.view();
  view.dtype = DType::kFloat16;
  testing::KeptOutputs outputs;
  EXPECT_THAT(errorOf([&] { engine->enqueue(std::vector{view}, outputs, 1); }),
              AllOf(HasSubstr("[E004] input 'x': expected float32, got float16"), HasSubstr("convert it to float32")));
}

TEST(Misuse, TheRank) {
  EXPECT_THAT(errorOfCall(*smallEngine(), {HostTensor::counting({3})}),
              HasSubstr("[E005] input 'x': expected 2 dimensions [n, 3], got [3]"));
}

TEST(Misuse, AFixedDimension) {
  EXPECT_THAT(errorOfCall(*smallEngine(), {HostTensor::counting({2, 4})}),
              HasSubstr("[E005] input 'x', dimension 1: expected 3, got 4 (expected [n, 3], got [2, 4])"));
}

TEST(Misuse, ADimensionOutOfItsRange) {
  EXPECT_THAT(errorOfCall(*smallEngine(), {HostTensor::counting({9, 3})}),
              AllOf(HasSubstr("[E005] input 'x', dimension 0: expected 0 to 8, got 9 in [9, 3]"),
                    HasSubstr("compile again with a range that has this one")));
}

TEST(Misuse, DimensionsThatShareASymbol) {
  PlanMaker make;
  const plan::Register n = make.symbol("n", 1, 4, 8);
  const int32_t a = make.input("a", {n});
  make.output("y", make.elementwise("sum", a, make.input("b", {n})));
  const auto engine = loadMade(make);
  EXPECT_THAT(errorOfCall(*engine, {HostTensor::counting({2}), HostTensor::counting({3})}),
              HasSubstr("[E005] input 'b', dimension 0: expected 2 as in input 'a', dimension 0, got 3"));
}

TEST(Misuse, AnInputWithoutMemory) {
  const HostTensor x = HostTensor::counting({1, 3});
  TensorView view = x.view();
  view.data = nullptr;
  testing::KeptOutputs outputs;
  EXPECT_THAT(errorOf([&] { smallEngine()->enqueue(std::vector{view}, outputs, 1); }), HasSubstr("[E006] input 'x'"));
}

TEST(Misuse, APlanWithoutItsWeights) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({1}));
  make.output("y", make.elementwise("sum", x, make.floats("w", {1}, {1})));
  const std::string bytes = plan::serializeWithoutWeights(make.plan());
  EXPECT_THAT(errorOf([&] { loadBytes(bytes); }),
              HasSubstr("the plan's 1 weights lie outside of it and were not given"));
}

// x of [n] expanded to [n, 2^40]: shapes that no machine has memory for.
PlanMaker hugePlan() {
  PlanMaker make("huge");
  const plan::Register n = make.symbol("n", 1, 1, int64_t{1} << 45);
  const plan::Register one = make.number(1);
  const plan::Register wide = make.number(int64_t{1} << 40);
  const int32_t x = make.input("x", {n, one});
  const int32_t y = make.step("expand", {x}, {n, wide});
  make.lastStep().dims = {{"dims", {n, wide}}};
  make.output("y", make.step("reduce", {y}, {n, one},
                             {{"op", std::string("max")}, {"axes", std::vector<int64_t>{1}}, {"keep_dims", true}}));
  return make;
}

TEST(Misuse, MoreMemoryThanThereIs) {
  PlanMaker make = hugePlan();
  const auto engine = loadMade(make);
  // The expanded rows, and the results of the parts that threads reduce these by, which are of 2048 terms.
  constexpr int64_t kTerms = 2 * (int64_t{1} << 40);
  constexpr int64_t kBytes = kTerms * int64_t{sizeof(float)} + kTerms / 2048 * int64_t{sizeof(double)};
  EXPECT_THAT(errorOfCall(*engine, {HostTensor::counting({2, 1})}),
              HasSubstr("[E007] the engine's workspace: wanted " + std::to_string(kBytes) + " bytes"));
}

TEST(Misuse, MoreMemoryThanNumbersHold) {
  PlanMaker make = hugePlan();
  const auto engine = loadMade(make);
  const HostTensor x = HostTensor::counting({2, 1});
  TensorView view = x.view();
  const int64_t dims[] = {int64_t{1} << 44, 1};
  view.dims = dims;
  testing::KeptOutputs outputs;
  EXPECT_THAT(errorOf([&] { engine->enqueue(std::vector{view}, outputs, 1); }), HasSubstr("more than 2^63 bytes"));
}

TEST(NullDevice, LaysOutWhatNoMachineCouldRun) {
  PlanMaker make = hugePlan();
  const auto engine = loadMade(make, {}, device::nullDevice());
  const HostTensor x = HostTensor::counting({2, 1});
  EXPECT_GE(engine->workspaceBytes(std::vector{x.view()}), size_t{8} << 40);
}

}  // namespace
}  // namespace torchtrt::engine
