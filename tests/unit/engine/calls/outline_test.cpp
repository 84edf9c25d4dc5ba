// An engine as plain values: steps, actions, and the life of buffers.
#include "engine/calls/outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/load.h"
#include "plan/families.h"

namespace torchtrt::engine {
namespace {

using ::testing::ElementsAre;
using testing::PlanMaker;

// tanh(relu(x * w)) of four to eight rows.
std::shared_ptr<const Engine> load(const LoadOptions& options) {
  PlanMaker make("net");
  const plan::Register n = make.symbol("n", 1, 4, 8);
  const int32_t x = make.input("x", {n, make.number(6)});
  const int32_t w = make.floats("w", {6}, {1, 2, 3, 4, 5, 6});
  const int32_t product = make.elementwise("prod", x, w);
  make.output("y", make.activation("tanh", make.activation("relu", product)));
  plan::fillDefaults(make.plan());
  return loadMade(make, options, device::cpu());
}

TEST(Outline, StepsAloneHaveBuffersWithLives) {
  LoadOptions options;
  options.disabled_fusions = {"pointwise_group"};
  const Outline outline = outlineOf(*load(options));
  ASSERT_EQ(outline.steps.size(), 3);
  EXPECT_EQ(outline.steps[0].family, "elementwise");
  EXPECT_THAT(outline.steps[0].inputs, ElementsAre(0, 1));
  EXPECT_EQ(outline.tensors[0].bytes, 4 * 6 * sizeof(float));
  EXPECT_THAT(outline.tensors[0].dims, ElementsAre("n", "6"));
  EXPECT_TRUE(outline.tensors[1].is_weight);
  ASSERT_EQ(outline.actions.size(), 3);
  EXPECT_EQ(outline.actions[1].rule, "");
  ASSERT_EQ(outline.buffers.size(), 2);  // the last step writes the output
  EXPECT_EQ(outline.buffers[0].first, 0);
  EXPECT_EQ(outline.buffers[0].last, 1);
  EXPECT_EQ(outline.buffers[1].first, 1);
  EXPECT_EQ(outline.buffers[1].last, 2);
  EXPECT_EQ(outline.buffers[0].bytes, 4 * 6 * sizeof(float));
  EXPECT_LE(outline.buffers[1].offset + outline.buffers[1].bytes, outline.workspace_bytes);
  EXPECT_THAT(outline.inputs, ElementsAre(0));
}

TEST(Outline, AFusedKernelIsOneAction) {
  const Outline outline = outlineOf(*load({}));
  ASSERT_EQ(outline.actions.size(), 1);
  EXPECT_THAT(outline.actions[0].steps, ElementsAre(0, 1, 2));
  EXPECT_EQ(outline.actions[0].rule, "pointwise_group");
  EXPECT_TRUE(outline.buffers.empty());
}

TEST(ImplementationsOf, HasOneForEachStep) {
  EXPECT_THAT(implementationsOf(*smallEngine()), ::testing::SizeIs(2));
}

}  // namespace
}  // namespace torchtrt::engine
