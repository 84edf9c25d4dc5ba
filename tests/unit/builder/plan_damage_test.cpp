// The short form of tests/fuzz/plan_damage.cpp.
#include "support/plan_damage.h"

#include <gtest/gtest.h>

namespace torchtrt::builder {
namespace {

TEST(ChangedPlans, AreAnErrorOrAnAnswer) {
  testing::PlanDamager damager;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    EXPECT_EQ(damager.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(damager.refused(), 500u);
  EXPECT_GT(damager.answers(), 200u);
}

}  // namespace
}  // namespace torchtrt::builder
