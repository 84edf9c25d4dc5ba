// Copies of an engine's results into its inputs, which are part of the engine's call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs.h"

namespace torchtrt::partitioning {
namespace {

Partition partitionOf(const std::string& rest) {
  return partition(graphOf(R"IR(
graph(%cache : Tensor, %x : Tensor, %other : Tensor):
  %one : int = prim::Constant[value=1]()
  %no : bool = prim::Constant[value=0]()
  %y : Tensor = aten::tanh(%x)
  %new : Tensor = aten::add(%cache, %y, %one)
)IR" + rest),
                   allBut({"aten::lgamma"}), withMinBlockSize(1));
}

TEST(Updates, OfAnInputAreNoSegment) {
  const Partition found = partitionOf("  %done : Tensor = aten::copy_(%cache, %new, %no)\n  return (%y)");
  EXPECT_EQ(outline(found.segments), "engine(tanh add)");
  const Segment& engine = found.segments.front();
  ASSERT_EQ(engine.updates.size(), 1U);
  EXPECT_EQ(engine.outputs[engine.updates[0].output]->node()->kind(), torch::jit::aten::add);
  EXPECT_EQ(engine.inputs[engine.updates[0].input]->debugName(), "cache");
  for (const Verdict& verdict : found.verdicts) {
    EXPECT_EQ(verdict.target, Target::kEngine);
    EXPECT_FALSE(verdict.refusal);
  }
}

TEST(Updates, StayCopiesWhereTheResultIsReadElsewhere) {
  EXPECT_EQ(outline(partitionOf("  %done : Tensor = aten::copy_(%cache, %new, %no)\n  return (%new)").segments),
            "engine(tanh add) torch(copy_)");
}

TEST(Updates, StayCopiesIntoWhatTheEngineDoesNotRead) {
  EXPECT_EQ(outline(partitionOf("  %done : Tensor = aten::copy_(%other, %new, %no)\n  return (%y)").segments),
            "engine(tanh add) torch(copy_)");
}

TEST(Updates, StayCopiesOfWhatPyTorchComputes) {
  EXPECT_EQ(outline(partitionOf("  %late : Tensor = aten::lgamma(%new)\n"
                                "  %done : Tensor = aten::copy_(%cache, %late, %no)\n  return (%y)")
                        .segments),
            "engine(tanh add) torch(lgamma copy_)");
}

TEST(Updates, StayCopiesOfTwoResultsIntoOneTensor) {
  EXPECT_EQ(outline(partitionOf("  %again : Tensor = aten::mul(%new, %x)\n"
                                "  %done : Tensor = aten::copy_(%cache, %new, %no)\n"
                                "  %twice : Tensor = aten::copy_(%cache, %again, %no)\n  return (%y)")
                        .segments),
            "engine(tanh add mul) torch(copy_ copy_)");
}

TEST(Updates, StayCopiesWhoseResultIsRead) {
  EXPECT_EQ(outline(partitionOf("  %done : Tensor = aten::copy_(%cache, %new, %no)\n  return (%done)").segments),
            "engine(tanh add) torch(copy_)");
}

}  // namespace
}  // namespace torchtrt::partitioning
