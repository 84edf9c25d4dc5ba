#include "compiler/compile_watch.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <torch/script.h>

#include "torchtrt/compile.h"

namespace torchtrt::compiler {
namespace {

torch::jit::Module square() {
  torch::jit::Module module("Square");
  module.define("def forward(self, x):\n    return x * x + torch.relu(x)\n");
  return module;
}

ts::CompileSpec watchedBy(CompileWatcher watcher) {
  ts::CompileSpec spec(std::vector<Input>{Input(at::ones({2, 3}))});
  spec.watcher = std::move(watcher);
  return spec;
}

TEST(CompileWatch, TellsWhereTheCompileIsAndItsEndOnce) {
  std::vector<CompileProgress> told;
  ts::compile(square(), watchedBy([&](const CompileProgress& progress) { told.push_back(progress); }));
  ASSERT_GE(told.size(), 2U);
  EXPECT_EQ(told.front().phase, "checking");
  EXPECT_FALSE(told[told.size() - 2].is_done);
  EXPECT_TRUE(told.back().is_done);
  EXPECT_GT(told.back().seconds, 0);
}

TEST(CompileWatch, WhatTheWatcherThrowsIsWhatTheCompileThrows) {
  int ends = 0;
  const auto stop = [&](const CompileProgress& progress) {
    ends += progress.is_done ? 1 : 0;
    throw std::out_of_range("stop");
  };
  EXPECT_THROW(ts::compile(square(), watchedBy(stop)), std::out_of_range);
  EXPECT_EQ(ends, 1);
  EXPECT_THROW(ts::convert_method_to_trt_engine(square(), "forward", watchedBy(stop)), std::out_of_range);
  EXPECT_EQ(ends, 2);
}

TEST(CompileWatch, AFailureAtTheLastCallIsDropped) {
  torch::jit::Module compiled = ts::compile(square(), watchedBy([](const CompileProgress& progress) {
                                              if (progress.is_done) {
                                                throw std::out_of_range("stop");
                                              }
                                            }));
  EXPECT_TRUE(at::equal(compiled.forward({at::full({2, 3}, 2.F)}).toTensor(), at::full({2, 3}, 6.F)));
}

TEST(CompileWatch, NamesTheEngineThatPhasesAreAbout) {
  PhaseClock clock;
  EXPECT_EQ(clock.progress().phase, "checking");
  clock.run(Phase::kBuilding, [&] {
    clock.atEngine(2, 5);
    clock.run(Phase::kTuning, [&] { EXPECT_EQ(clock.progress().phase, "tuning"); });
    EXPECT_EQ(clock.progress().phase, "building");
    EXPECT_EQ(clock.progress().engine, 2U);
    EXPECT_EQ(clock.progress().engines, 5U);
  });
  clock.atEngine(0, 5);
  EXPECT_EQ(clock.progress().phase, "checking");
  EXPECT_EQ(clock.progress().engines, 0U);
}

}  // namespace
}  // namespace torchtrt::compiler
