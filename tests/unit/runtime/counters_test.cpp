#include "runtime/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/execute.h"
#include "runtime/small_engine.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {
namespace {

c10::intrusive_ptr<Engine> engineNamed(const std::string& name) {
  plan::Plan plan = smallPlan();
  plan.name = name;
  return Engine::fromPlan(plan);
}

EngineCounters countersNamed(const std::string& name) {
  const std::vector<EngineCounters> all = counters();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.engine == name; });
  return found == all.end() ? EngineCounters() : *found;
}

TEST(Counters, CountCallsTimeErrorsAndNewShapes) {
  const auto engine = engineNamed("counted");
  EXPECT_EQ(countersNamed("counted").calls, 0);
  for (const int64_t rows : {4, 4, 2, 2}) {  // 4 is the optimum, for which loading prepares
    executeEngine({at::randn({rows, 3})}, engine);
  }
  EXPECT_ANY_THROW(executeEngine({at::randn({9, 3})}, engine));
  const EngineCounters counted = countersNamed("counted");
  EXPECT_EQ(counted.calls, 4);
  EXPECT_EQ(counted.errors, 1);
  EXPECT_EQ(counted.fallbacks, 0);
  EXPECT_EQ(counted.new_shapes, 1);
  EXPECT_GT(counted.seconds, 0);
}

TEST(Counters, OutliveTheirEnginesAndGoByName) {
  executeEngine({at::randn({4, 3})}, engineNamed("gone"));
  executeEngine({at::randn({4, 3})}, engineNamed("gone"));
  EXPECT_EQ(countersNamed("gone").calls, 2);
  EXPECT_EQ(countersNamed("never").engine, "");
}

}  // namespace
}  // namespace torchtrt::runtime
