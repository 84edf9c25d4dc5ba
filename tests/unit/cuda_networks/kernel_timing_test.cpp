// Kernels of a GPU by the clock: what is timed, and what a plan then holds. On the emulation the times say nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "builder/kernel_timing.h"
#include "builder/run.h"
#include "cuda/emulation.h"
#include "cuda/fake_cublaslt.h"
#include "engine/loading/problem.h"
#include "kernels/backend.h"
#include "torchtrt/network.h"

namespace torchtrt::cuda::testing {
namespace {

const device::Device& gpu() {
  return kernels::deviceNamed("cuda:0");
}

// A product by constants, of rows that the kernel for few of them leaves, and a sum that nobody times.
plan::Plan makePlan(const std::string& dtype) {
  std::string data;
  for (int i = 0; i < 8 * 16; ++i) {
    data += (i == 0 ? "" : ", ") + std::to_string((i * 7 % 11 - 5) / 8.0);
  }
  return builder::optimizeAndBuild(*network::parse("network \"n\" {\n  input %x : " + dtype +
                                                   "[6, 8]\n  %w = constant() {} : " + dtype + "[8, 16] data=[" + data +
                                                   "]\n  %p = matrix_multiply(%x, %w) {}\n"
                                                   "  %s = elementwise(%p, %p) {op=\"sum\"}\n  output \"y\" %s\n}"));
}

kernels::Problem productOf(const plan::Plan& plan) {
  for (const plan::Step& step : plan.steps) {
    if (step.family == "matrix_multiply") {
      return engine::problemOf(plan, step, engine::optimumOf(plan), 1, gpu());
    }
  }
  throw std::logic_error("a plan without a product");
}

std::string hintOf(const plan::Plan& plan) {
  std::string hints;
  for (const plan::Step& step : plan.steps) {
    hints += step.hint;
  }
  return hints;
}

// The products that a call of the plan's engine asks the fake for.
std::string callsOf(const plan::Plan& plan) {
  const auto engine = builder::loadPlan(plan);
  fakeCublasLt().calls.clear();
  void* memory = nullptr;
  const network::Weights rows = network::Weights::allocate(DType::kFloat16, {6, 8}, &memory);
  std::memset(memory, 0, rows.bytes());
  builder::runEngine(*engine, {rows});
  return fakeCublasLt().calls;
}

TEST(KernelTimingOnGpus, WhatIsKnownIsAHintThatTheEngineTakes) {
  plan::Plan plan = makePlan("float16");
  builder::Timings known = {{productOf(plan).toString(), {"cublaslt_unsplit", "cublaslt", 1, 2}}};
  double seconds = 0;
  const std::vector<builder::TimedStep> timed = builder::chooseKernels(plan, known, seconds, gpu());
  ASSERT_EQ(timed.size(), 1U);
  EXPECT_TRUE(timed[0].is_cached);
  EXPECT_EQ(hintOf(plan), "cublaslt_unsplit");
  EXPECT_EQ(plan.timed_on, kernels::backendOf(&gpu()).machineKey(gpu(), 1));
  if (isEmulated()) {
    EXPECT_EQ(callsOf(plan), "float16 1x[16,8,6] unsplit");
  }
}

TEST(KernelTimingOnGpus, HintsOfAnotherCardAreLeftAlone) {
  plan::Plan plan = makePlan("float16");
  for (plan::Step& step : plan.steps) {
    step.hint = step.family == "matrix_multiply" ? "tiled" : "";
  }
  const std::string here = kernels::backendOf(&gpu()).machineKey(gpu(), 1);
  if (!isEmulated()) {
    GTEST_SKIP() << "looks at calls of a fake";
  }
  plan.timed_on = here + "; and more";
  EXPECT_EQ(callsOf(plan), "float16 1x[16,8,6]");
  plan.timed_on = here;
  EXPECT_EQ(callsOf(plan), "");
}

TEST(KernelTimingOnGpus, TimesWhatIsNotKnownOnceAndWritesTheSamePlanFromThen) {
  for (const char* const dtype : {"float16", "bfloat16", "float32"}) {
    plan::Plan plan = makePlan(dtype);
    builder::Timings known;
    double seconds = 60;
    const std::vector<builder::TimedStep> timed = builder::chooseKernels(plan, known, seconds, gpu());
    EXPECT_LT(seconds, 60);
    ASSERT_EQ(known.size(), 1U) << dtype;
    EXPECT_EQ(known.begin()->first, productOf(plan).toString());
    EXPECT_EQ(known.begin()->second.by_rule, "cublaslt");
    ASSERT_EQ(timed.size(), 1U) << dtype;
    EXPECT_FALSE(timed[0].is_cached);
    EXPECT_LE(timed[0].timing.microseconds, timed[0].timing.by_rule_microseconds);
    plan::Plan again = makePlan(dtype);
    const double left = seconds;
    builder::chooseKernels(again, known, seconds, gpu());
    EXPECT_EQ(seconds, left);
    EXPECT_TRUE(plan::serialize(again) == plan::serialize(plan));
  }
}

TEST(KernelTimingOnGpus, OtherPlansStayAsTheyAre) {
  for (const char* const dtype : {"float64", "float16"}) {
    plan::Plan plan = makePlan(dtype);
    const std::string before = plan::serialize(plan);
    builder::Timings known;
    double seconds = dtype == std::string("float64") ? 60 : 0;  // no dtype to time, and no time
    EXPECT_TRUE(builder::chooseKernels(plan, known, seconds, gpu()).empty());
    EXPECT_TRUE(known.empty());
    EXPECT_TRUE(plan::serialize(plan) == before);
  }
}

}  // namespace
}  // namespace torchtrt::cuda::testing
