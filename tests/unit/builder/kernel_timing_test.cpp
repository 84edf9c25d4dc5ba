#include "builder/kernel_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cpu/machine.h"
#include "engine/loading/problem.h"
#include "kernels/kernel.h"
#include "run.h"

namespace torchtrt::builder {
namespace {

using ::testing::HasSubstr;

std::string valuesOf(size_t count, double factor) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(std::sin(factor * static_cast<double>(i + 1)));
  }
  return text;
}

// A 3x3 convolution of 32 channels, a product, and a sum that nobody times.
plan::Plan makePlan() {
  return optimizeAndBuild(*network::parse(R"(network "n" {
  input %x : float32[1, 32, 12, 12]
  %w = constant() {} : float32[32, 32, 3, 3] data=[)" +
                                          valuesOf(32 * 32 * 9, 0.7) + R"(]
  %b = constant() {} : float32[12, 40] data=[)" +
                                          valuesOf(12 * 40, 0.3) + R"(]
  %c = convolution(%x, %w) {pre_padding=[1, 1], post_padding=[1, 1]}
  %p = matrix_multiply(%c, %b) {}
  %s = elementwise(%p, %p) {op="sum"}
  output "y" %s
})"));
}

size_t stepOf(const plan::Plan& plan, const std::string& family) {
  const auto found =
      std::find_if(plan.steps.begin(), plan.steps.end(), [&](const plan::Step& step) { return step.family == family; });
  return static_cast<size_t>(found - plan.steps.begin());
}

kernels::Problem problemOf(const plan::Plan& plan, const std::string& family) {
  return engine::problemOf(plan, plan.steps.at(stepOf(plan, family)), engine::optimumOf(plan),
                           engine::defaultThreads());
}

std::string byRule(const plan::Plan& plan, const std::string& family) {
  return kernels::createKernel(problemOf(plan, family)).implementation;
}

// Another one than the rule's that takes the problem.
std::string otherThanRule(const plan::Plan& plan, const std::string& family) {
  const kernels::Problem problem = problemOf(plan, family);
  for (const kernels::Implementation& each : kernels::findFamily(family)->implementations) {
    if (each.name != byRule(plan, family) && std::string(each.name) != "reference" &&
        std::string(kernels::createKernel(problem, each.name).implementation) == each.name) {
      return each.name;
    }
  }
  return "";
}

// Hints are taken on the machine that they were timed on: the CPU's, whatever device other tests run on.
std::shared_ptr<const engine::Engine> loadOnCpu(const plan::Plan& plan) {
  const std::string bytes = plan::serialize(plan);
  return engine::Engine::load(testing::bytesOf(bytes));
}

std::vector<float> run(const plan::Plan& plan) {
  std::vector<float> values(32 * 144);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::cos(0.01F * static_cast<float>(i));
  }
  const auto outputs =
      runEngine(*loadOnCpu(plan), {network::Weights::copyOf(DType::kFloat32, {1, 32, 12, 12}, values.data())});
  return {outputs[0].as<float>(), outputs[0].as<float>() + outputs[0].count()};
}

// Returns the largest difference as a share of the largest value.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  double most = a.size() == b.size() ? 0 : 1e9;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max<double>(largest, std::abs(a[i]));
    most = std::max<double>(most, std::abs(a[i] - b[i]));
  }
  return most / largest;
}

TEST(KernelTiming, WhatIsKnownIsAHintThatTheEngineTakes) {
  plan::Plan plan = makePlan();
  const std::vector<float> expected = run(plan);
  const std::string other = otherThanRule(plan, "convolution");
  ASSERT_NE(other, "");
  const std::string rule = byRule(plan, "convolution");
  Timings known = {{problemOf(plan, "convolution").toString(), {other, rule, 1, 2}}};
  double seconds = 0;
  const std::vector<TimedStep> timed = chooseKernels(plan, known, seconds);
  ASSERT_EQ(timed.size(), 1U);
  EXPECT_EQ(timed[0].step, stepOf(plan, "convolution"));
  EXPECT_TRUE(timed[0].is_cached);
  EXPECT_EQ(known.size(), 1U) << "nothing is timed in no time";
  EXPECT_EQ(plan.steps[timed[0].step].hint, other);
  EXPECT_EQ(plan.timed_on, kernels::machineKey(engine::defaultThreads()));
  EXPECT_THAT(loadOnCpu(plan)->inspect(), HasSubstr("hint=\"" + other + "\""));
  EXPECT_LT(difference(run(plan), expected), 1e-5);
}

TEST(KernelTiming, HintsOfOtherMachinesAreLeftAlone) {
  const plan::Plan plain = makePlan();
  const std::vector<float> expected = run(plain);
  plan::Plan foreign = plain;
  foreign.steps[stepOf(plain, "convolution")].hint = otherThanRule(plain, "convolution");
  EXPECT_EQ(run(foreign), expected) << "of no machine";
  foreign.timed_on = kernels::machineKey(engine::defaultThreads()) + "; and more";
  EXPECT_EQ(run(foreign), expected);
  EXPECT_EQ(kernels::machineKey(1) == kernels::machineKey(2), false);
  plan::Plan unknown = foreign;
  unknown.steps[stepOf(plain, "convolution")].hint = "no such implementation";
  EXPECT_EQ(run(unknown), expected);
}

TEST(KernelTiming, AnUnknownHintOfThisMachineIsAnError) {
  plan::Plan plan = makePlan();
  plan.timed_on = kernels::machineKey(engine::defaultThreads());
  const size_t step = stepOf(plan, "convolution");
  plan.steps[step].hint = "no such implementation";
  try {
    loadOnCpu(plan);
    FAIL() << "an unknown hint was taken";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlanCorrupt);
    EXPECT_THAT(error.what(), HasSubstr("step '" + plan.steps[step].name + "'"));
    EXPECT_THAT(error.what(), HasSubstr("its hint \"no such implementation\" names no implementation of convolution"));
  }
}

// Plans and caches of earlier builds call packed_gemm "highway".
TEST(KernelTiming, EarlierNamesAreThoseOfToday) {
  const plan::Plan plain = makePlan();
  const std::string line = problemOf(plain, "matrix_multiply").toString();
  double seconds = 0;
  plan::Plan earlier = plain;
  plan::Plan today = plain;
  Timings of_earlier = {{line, {"highway", "onednn", 1, 2}}};
  Timings of_today = {{line, {"packed_gemm", "onednn", 1, 2}}};
  const std::vector<TimedStep> timed = chooseKernels(earlier, of_earlier, seconds);
  ASSERT_EQ(timed.size(), 1U);
  EXPECT_EQ(timed[0].timing.implementation, "packed_gemm");
  chooseKernels(today, of_today, seconds);
  EXPECT_TRUE(plan::serialize(earlier) == plan::serialize(today));
  plan::Plan hinted = today;
  hinted.steps[timed[0].step].hint = "highway";
  EXPECT_EQ(run(hinted), run(today));
}

TEST(KernelTiming, TimingsOfUnknownImplementationsAreForgotten) {
  plan::Plan plan = makePlan();
  Timings known = {{problemOf(plan, "convolution").toString(), {"no such implementation", "onednn", 1, 2}}};
  double seconds = 0;
  EXPECT_TRUE(chooseKernels(plan, known, seconds).empty());
  EXPECT_TRUE(known.empty());
  EXPECT_EQ(plan.timed_on, "");
}

// Whatever a plan names, what takes the step computes it, and what does not is passed over.
TEST(KernelTiming, NoHintMakesAWrongNumber) {
  const plan::Plan plain = makePlan();
  const std::vector<float> expected = run(plain);
  for (const char* family : {"convolution", "matrix_multiply"}) {
    for (const kernels::Implementation& each : kernels::findFamily(family)->implementations) {
      plan::Plan hinted = plain;
      hinted.timed_on = kernels::machineKey(engine::defaultThreads());
      hinted.steps[stepOf(plain, family)].hint = each.name;
      EXPECT_LT(difference(run(hinted), expected), 1e-5) << each.name;
    }
  }
}

TEST(KernelTiming, TimesWhatIsNotKnownOnceAndWritesTheSamePlanFromThen) {
  plan::Plan plan = makePlan();
  const std::vector<float> expected = run(plan);
  Timings known;
  double seconds = 60;
  const std::vector<TimedStep> timed = chooseKernels(plan, known, seconds);
  EXPECT_LT(seconds, 60);
  EXPECT_EQ(known.size(), 2U);
  for (const TimedStep& each : timed) {
    EXPECT_FALSE(each.is_cached);
    EXPECT_GT(each.timing.microseconds, 0);
    EXPECT_LE(each.timing.microseconds, each.timing.by_rule_microseconds);
    EXPECT_EQ(plan.steps[each.step].hint,
              each.timing.implementation == each.timing.by_rule ? "" : each.timing.implementation);
  }
  EXPECT_LT(difference(run(plan), expected), 1e-5);
  plan::Plan again = makePlan();
  const double left = seconds;
  const Timings before = known;
  for (const TimedStep& each : chooseKernels(again, known, seconds)) {
    EXPECT_TRUE(each.is_cached);
  }
  EXPECT_EQ(seconds, left);
  EXPECT_EQ(known, before);
  EXPECT_TRUE(plan::serialize(again) == plan::serialize(plan));
}

// Engines run no kernel on nothing, and none has to be able to.
TEST(KernelTiming, StepsOnNothingAreNotTimed) {
  const std::string matrix = "float32[8, 8] data=[" + valuesOf(64, 0.3) + "]";
  plan::Plan plan = optimizeAndBuild(*network::parse(R"(network "n" {
  input %x : float32[0, 32, 12, 12]
  input %a : float32[4, 0]
  input %b : float32[0, 8]
  input %e : float32[0, 8]
  %w = constant() {} : float32[32, 32, 3, 3] data=[)" +
                                                     valuesOf(32 * 32 * 9, 0.7) +
                                                     R"(]
  %m = constant() {} : )" + matrix + R"(
  %c = convolution(%x, %w) {pre_padding=[1, 1], post_padding=[1, 1]}
  %p = matrix_multiply(%a, %b) {}
  %q = matrix_multiply(%e, %m) {}
  output "y" %c
  output "z" %p
  output "q" %q
})"));
  Timings known;
  double seconds = 60;
  EXPECT_TRUE(chooseKernels(plan, known, seconds).empty());
  EXPECT_TRUE(known.empty());
}

TEST(KernelTiming, WithoutTimeAndKnowledgeThePlanStaysAsItIs) {
  plan::Plan plan = makePlan();
  const std::string bytes = plan::serialize(plan);
  Timings known;
  double seconds = 0;
  EXPECT_TRUE(chooseKernels(plan, known, seconds).empty());
  EXPECT_TRUE(known.empty());
  EXPECT_TRUE(plan::serialize(plan) == bytes);
}

}  // namespace
}  // namespace torchtrt::builder
