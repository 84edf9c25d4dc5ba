// The text of schedules: fused steps, places, what is skipped, and why rules leave steps apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/load.h"
#include "engine/schedule/schedule.h"
#include "plan/families.h"

namespace torchtrt::engine {
namespace {

using ::testing::HasSubstr;
using testing::HostTensor;
using testing::PlanMaker;
using Ints = std::vector<int64_t>;

// tanh(relu(x * w + 1)), and a sum of its rows.
PlanMaker pointwise() {
  PlanMaker make("net");
  const plan::Register n = make.symbol("n", 1, 4, 8);
  const int32_t x = make.input("x", {n, make.number(6)});
  const int32_t w = make.floats("w", {6}, {1, 2, 3, 4, 5, 6});
  const int32_t one = make.floats("one", {}, {1});
  const int32_t sum = make.elementwise("sum", make.elementwise("prod", x, w), one);
  const int32_t tanh = make.activation("tanh", make.activation("relu", sum));
  make.output("y", tanh);
  make.output("s", make.step("reduce", {tanh}, {n, make.number(1)},
                             {{"op", std::string("sum")}, {"axes", Ints{1}}, {"keep_dims", true}}));
  plan::fillDefaults(make.plan());
  return make;
}

std::string scheduleOf(PlanMaker make, const HostTensor& x, const LoadOptions& options = {}) {
  return loadMade(make, options, device::cpu())->schedule(std::vector{x.view()}, 2);
}

TEST(Print, AGroupWithItsUnitsAndPlaces) {
  const HostTensor x({3, 6}, std::vector<float>(18, 1));
  EXPECT_EQ(scheduleOf(pointwise(), x), R"(schedule "net": 2 threads, 0 bytes of workspace
  0 elementwise "elementwise0" + {elementwise "elementwise1" + activation "activation2"} + activation "activation3" + reduce "reduce4" [vectors, pointwise_group] (%0 in0, %1, %2, %6 out0) -> %6 out0 float32[3, 6], %7 out1 float32[3, 1]
)");
}

TEST(Print, EveryStepAloneWithoutTheRules) {
  const HostTensor x({3, 6}, std::vector<float>(18, 1));
  LoadOptions options;
  options.disabled_fusions = {"pointwise_group"};
  EXPECT_EQ(scheduleOf(pointwise(), x, options), R"(schedule "net": 2 threads, 256 bytes of workspace
  0 elementwise "elementwise0" [vectors] (%0 in0, %1) -> %3 ws+0 float32[3, 6]
  1 elementwise "elementwise1" [vectors] (%3 ws+0, %2) -> %4 ws+128 float32[3, 6]
  2 activation "activation2" [vectors] (%4 ws+128) -> %5 ws+0 float32[3, 6]
  3 activation "activation3" [vectors] (%5 ws+0) -> %6 out0 float32[3, 6]
  4 reduce "reduce4" [vectors] (%6 out0) -> %7 out1 float32[3, 1]
)");
}

TEST(Print, TheEnvironmentSwitchesRulesOff) {
  const HostTensor x({3, 6}, std::vector<float>(18, 1));
  LoadOptions options;
  options.disabled_fusions = {"pointwise_group"};
  ASSERT_EQ(setenv("TORCHTRT_DISABLE_FUSION", "pool_output,pointwise_group", 1), 0);
  const std::string text = scheduleOf(pointwise(), x);
  ASSERT_EQ(setenv("TORCHTRT_DISABLE_FUSION", "no_such_rule", 1), 0);
  std::string error;
  try {
    scheduleOf(pointwise(), x);
  } catch (const CompileError& unknown) {
    error = unknown.what();
  }
  unsetenv("TORCHTRT_DISABLE_FUSION");
  EXPECT_EQ(text, scheduleOf(pointwise(), x, options));
  EXPECT_THAT(error, HasSubstr("[C003] no fusion rule 'no_such_rule'"));
  EXPECT_THAT(error, HasSubstr("pointwise_group"));
}

TEST(Print, ReferenceKernelsByTheEnvironment) {
  const HostTensor x({3, 6}, std::vector<float>(18, 1));
  LoadOptions options;
  options.force_reference = true;
  ASSERT_EQ(setenv("TORCHTRT_REFERENCE_KERNELS", "1", 1), 0);
  const std::string text = scheduleOf(pointwise(), x);
  unsetenv("TORCHTRT_REFERENCE_KERNELS");
  EXPECT_EQ(text, scheduleOf(pointwise(), x, options));
  EXPECT_THAT(text, HasSubstr("[reference"));
}

TEST(Print, WhatIsSkippedAndWhatIsLeftApart) {
  PlanMaker make("net");
  const int32_t x = make.input("x", make.dims({1, 2, 9, 9}));
  const int32_t same = make.step("reformat", {x}, make.at(x).dims);
  const int32_t w = make.floats("w", {3, 2, 1, 1}, randomFloats(6, 1));
  const int32_t y = make.step("convolution", {same, w, -1}, make.dims({1, 3, 9, 9}),
                              {{"groups", int64_t{1}},
                               {"stride", Ints{1, 1}},
                               {"dilation", Ints{1, 1}},
                               {"pre_padding", Ints{0, 0}},
                               {"post_padding", Ints{0, 0}}});
  make.output("z", make.step("pooling", {y}, make.dims({1, 3, 5, 5}),
                             {{"op", std::string("max")},
                              {"window", Ints{2, 2}},
                              {"stride", Ints{2, 2}},
                              {"dilation", Ints{1, 1}},
                              {"pre_padding", Ints{0, 0}},
                              {"post_padding", Ints{0, 0}},
                              {"ceil_mode", true},
                              {"return_indices", false}}));
  plan::fillDefaults(make.plan());
  EXPECT_EQ(scheduleOf(make, HostTensor({1, 2, 9, 9}, std::vector<float>(162, 1))),
            R"(schedule "net": 2 threads, 1024 bytes of workspace
  0 convolution "convolution1" [planes] (%1 in0, %2, null) -> %3 ws+0 float32[1, 3, 9, 9]
  1 pooling "pooling2" [planes] (%3 ws+0) -> %4 out0 float32[1, 3, 5, 5]
skipped reformat "reformat0": its input already lies as wanted
apart pool_output convolution "convolution1", pooling "pooling2": the last window is cut off (ceil_mode)
)");
}

TEST(Print, AnInputThatIsCopiedFirst) {
  PlanMaker make("net");
  const int32_t x = make.input("x", make.dims({2, 3}));
  make.output("y", make.activation("relu", make.view("flat", x, make.dims({6}))));
  plan::fillDefaults(make.plan());
  const HostTensor x_values({2, 3}, {1, 2, 3, 4, 5, 6});
  TensorView view = x_values.view();
  const Ints strides = {1, 2};
  view.strides = strides.data();
  EXPECT_EQ(loadMade(make, {}, device::cpu())->schedule(std::vector{view}, 1),
            R"(schedule "net": 1 thread, 64 bytes of workspace
  0 copy (in0) -> %0 ws+0 float32[2, 3]
  1 activation "activation0" [vectors] (%1 ws+0) -> %2 out0 float32[6]
)");
}

TEST(Print, ShapesOutsideOfTheRangeAreTheUsualError) {
  const HostTensor x({9, 6}, std::vector<float>(54, 1));
  EXPECT_THAT(testing::errorOf([&] { scheduleOf(pointwise(), x); }), HasSubstr("[E005]"));
}

}  // namespace
}  // namespace torchtrt::engine
