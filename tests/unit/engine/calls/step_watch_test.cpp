#include "engine/calls/step_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using ::testing::ElementsAre;
using testing::HostTensor;
using ::testing::IsEmpty;

class Recorded final : public StepWatch {
 public:
  void begin(const RunningStep& step) override {
    seen.push_back(step.family + " " + step.name);
    implementations.push_back(step.implementation);
    ++open;
  }
  void end() noexcept override {
    --open;
  }
  std::vector<std::string> seen, implementations;
  int open = 0;
};

TEST(StepWatch, HearsOfEachKernelOfACallInItsScope) {
  LoadOptions options;
  options.disabled_fusions = {"pointwise_group", "register_unit"};
  const auto engine = smallEngine(options);
  Recorded watch;
  {
    const StepWatchScope scope(watch);
    for (int call = 0; call < 4; ++call) {  // a device that records does so at the third
      watch.seen.clear();
      const auto outputs = callEngine(*engine, {HostTensor::counting({1, 3})});
      EXPECT_THAT(outputs[0].values(), ElementsAre(1, 0, 5));
      EXPECT_THAT(watch.seen, ElementsAre("elementwise elementwise0", "activation activation1"));
    }
  }
  EXPECT_EQ(watch.open, 0);
  EXPECT_THAT(watch.implementations, ::testing::Not(::testing::Contains("")));
  watch.seen.clear();
  callEngine(*engine, {HostTensor::counting({1, 3})});
  EXPECT_THAT(watch.seen, IsEmpty());
}

TEST(StepWatch, NamesAllStepsOfAFusedKernel) {
  Recorded watch;
  const StepWatchScope scope(watch);
  callEngine(*smallEngine(), {HostTensor::counting({2, 3})});
  if (testing::testDevice().isHost()) {
    EXPECT_THAT(watch.seen, ElementsAre("activation elementwise0 + activation1"));
  }
  EXPECT_EQ(watch.open, 0);
}

TEST(StepWatch, AnInnerScopeTakesTheCalls) {
  const auto engine = smallEngine();
  Recorded outer;
  const StepWatchScope scope(outer);
  {
    Recorded inner;
    const StepWatchScope inner_scope(inner);
    callEngine(*engine, {HostTensor::counting({1, 3})});
    EXPECT_FALSE(inner.seen.empty());
  }
  EXPECT_THAT(outer.seen, IsEmpty());
  callEngine(*engine, {HostTensor::counting({1, 3})});
  EXPECT_FALSE(outer.seen.empty());
}

}  // namespace
}  // namespace torchtrt::engine
