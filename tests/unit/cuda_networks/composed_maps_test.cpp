// Pointwise steps that become one kernel: schedules, and results bit by bit as those of one kernel for each step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "builder/run.h"
#include "engine/schedule/optimum.h"
#include "kernels/scalar/half.h"
#include "support/interpreter.h"
#include "torchtrt/network.h"

namespace torchtrt::cuda::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

network::Weights valuesOf(DType dtype, const std::vector<int64_t>& dims, int64_t seed) {
  void* memory = nullptr;
  network::Weights values = network::Weights::allocate(dtype, dims, &memory);
  for (size_t i = 0; i < values.count(); ++i) {
    const float value = static_cast<float>(static_cast<int64_t>(i) * seed % 13 - 6) / 8;
    if (dtype == DType::kFloat16) {
      static_cast<kernels::Float16*>(memory)[i] = kernels::toFloat16(value);
    } else if (dtype == DType::kFloat32) {
      static_cast<float*>(memory)[i] = value;
    } else if (dtype == DType::kInt32) {
      static_cast<int32_t*>(memory)[i] = static_cast<int32_t>(value * 8);
    } else {
      static_cast<bool*>(memory)[i] = value > 0;
    }
  }
  return values;
}

std::string textOf(const std::string& body) {
  return "network \"n\" () {\n" + body + "}";
}

// Returns the schedule of the network; compares its results with those of the schedule without groups.
std::string scheduleOf(const std::string& body, const std::vector<network::Weights>& inputs) {
  const auto network = network::parse(textOf(body));
  const plan::Plan plan = builder::optimizeAndBuild(*network);
  const auto engine = builder::loadPlan(plan);
  const std::vector<network::Weights> got = builder::runEngine(*engine, inputs);
  setenv("TORCHTRT_DISABLE_FUSION", "pointwise_group", 1);
  const auto apart = builder::loadPlan(plan);
  unsetenv("TORCHTRT_DISABLE_FUSION");
  EXPECT_THAT(engine::scheduleAtOptimum(*apart), Not(HasSubstr("pointwise_group")));
  const std::vector<network::Weights> expected = builder::runEngine(*apart, inputs);
  EXPECT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].bytes(), expected[i].bytes());
    EXPECT_EQ(std::memcmp(got[i].data.get(), expected[i].data.get(), got[i].bytes()), 0)
        << "output " << i << " of " << body;
  }
  const auto reference = torchtrt::testing::interpretIfPossible(*network, inputs);
  EXPECT_TRUE(reference.has_value());
  for (size_t i = 0; reference && i < got.size(); ++i) {
    EXPECT_TRUE(torchtrt::testing::agree(got[i], (*reference)[i])) << body;
  }
  return engine::scheduleAtOptimum(*engine);
}

// As PyTorch's tracer gives the activation of GPT-2.
std::string approximateGelu(const std::string& type) {
  return "  input %x : " + type + "[3, 40]\n  %h = constant() {} : " + type +
         "[1, 1] data=[0.5]\n  %c = constant() {} : " + type +
         "[1, 1] data=[0.044715]\n  %s = constant() {} : " + type +
         "[1, 1] data=[0.7978845]\n  %o = constant() {} : " + type +
         "[1, 1] data=[1]\n  %half = elementwise(%x, %h) {op=\"prod\"}\n  %square = elementwise(%x, %x) {op=\"prod\"}\n"
         "  %cube = elementwise(%square, %x) {op=\"prod\"}\n  %small = elementwise(%cube, %c) {op=\"prod\"}\n"
         "  %sum = elementwise(%x, %small) {op=\"sum\"}\n  %inner = elementwise(%sum, %s) {op=\"prod\"}\n"
         "  %tanh = activation(%inner) {op=\"tanh\"}\n  %more = elementwise(%tanh, %o) {op=\"sum\"}\n"
         "  %y = elementwise(%half, %more) {op=\"prod\"}\n  output \"y\" %y\n";
}

TEST(ComposedMaps, OfAChain) {
  const std::string half = scheduleOf(approximateGelu("float16"), {valuesOf(DType::kFloat16, {3, 40}, 5)});
  EXPECT_THAT(half, HasSubstr("map, pointwise_group]"));
  EXPECT_THAT(half, Not(HasSubstr("\n  1 "))) << half;  // one action
  const std::string single = scheduleOf(approximateGelu("float32"), {valuesOf(DType::kFloat32, {3, 40}, 5)});
  EXPECT_THAT(single, Not(HasSubstr("\n  1 "))) << single;
}

TEST(ComposedMaps, ReadBroadcastOperands) {
  for (const std::string dims : {"1, 1, 1", "1, 5, 1", "2, 1, 8", "1, 1, 8", "2, 5, 8"}) {
    std::vector<int64_t> sizes;
    for (const char digit : dims) {
      if (digit >= '0' && digit <= '9') {
        sizes.push_back(digit - '0');
      }
    }
    const std::string schedule = scheduleOf(
        "  input %x : float16[2, 5, 8]\n  input %y : float16[" + dims +
            "]\n  %a = elementwise(%x, %y) {op=\"sum\", activation=\"relu\"}\n  %b = elementwise(%y, %a) {op=\"sub\"}\n"
            "  output \"b\" %b\n",
        {valuesOf(DType::kFloat16, {2, 5, 8}, 5), valuesOf(DType::kFloat16, sizes, 7)});
    EXPECT_THAT(schedule, HasSubstr("pointwise_group")) << dims;
  }
}

// Results that others read are written, too; casts and conditions change the type.
TEST(ComposedMaps, WriteWhatOthersRead) {
  const std::string schedule = scheduleOf(
      "  input %x : float16[4, 24]\n  input %c : bool[4, 24]\n  %a = activation(%x) {op=\"sigmoid\"}\n"
      "  %b = elementwise(%a, %x) {op=\"prod\"}\n  %d = select(%c, %b, %x)\n"
      "  %s = reduce(%a) {op=\"sum\", axes=[1], keep_dims=true}\n  output \"d\" %d\n  output \"s\" %s\n",
      {valuesOf(DType::kFloat16, {4, 24}, 5), valuesOf(DType::kBool, {4, 24}, 7)});
  EXPECT_THAT(schedule, HasSubstr("pointwise_group")) << schedule;
}

TEST(ComposedMaps, OtherStepsStayApart) {
  const network::Weights x = valuesOf(DType::kFloat16, {4, 24}, 5);
  // One step is no group.
  EXPECT_THAT(scheduleOf("  input %x : float16[4, 24]\n  %a = activation(%x) {op=\"relu\"}\n  output \"a\" %a\n", {x}),
              Not(HasSubstr("pointwise_group")));
  // Steps of which none reads another.
  EXPECT_THAT(scheduleOf("  input %x : float16[4, 24]\n  %a = activation(%x) {op=\"relu\"}\n"
                         "  %b = activation(%x) {op=\"tanh\"}\n  output \"a\" %a\n  output \"b\" %b\n",
                         {x}),
              Not(HasSubstr("pointwise_group")));
  // A result that is broadcast.
  EXPECT_THAT(scheduleOf("  input %x : float16[4, 24]\n  input %y : float16[1, 24]\n"
                         "  %a = activation(%y) {op=\"tanh\"}\n  %b = elementwise(%x, %a) {op=\"prod\"}\n"
                         "  output \"b\" %b\n",
                         {x, valuesOf(DType::kFloat16, {1, 24}, 7)}),
              Not(HasSubstr("pointwise_group")));
  // Divisions of integers name their step if a divisor is 0.
  EXPECT_THAT(scheduleOf("  input %x : int32[4, 24]\n  input %y : int32[4, 24]\n"
                         "  %s = elementwise(%y, %y) {op=\"prod\"}\n  %m = elementwise(%s, %x) {op=\"max\"}\n"
                         "  %a = elementwise(%x, %m) {op=\"floor_div\"}\n  output \"a\" %a\n",
                         {valuesOf(DType::kInt32, {4, 24}, 5), valuesOf(DType::kInt32, {4, 24}, 3)}),
              HasSubstr("[map] "));
}

}  // namespace
}  // namespace torchtrt::cuda::testing
