// The list of kernels against the layer table, and how an implementation is chosen from it.
#include <gtest/gtest.h>

#include <set>

#include "cpu/backend.h"
#include "cpu/harness.h"

namespace torchtrt::kernels {
namespace {

const std::vector<std::string> kLayerKinds = {
#define LAYER(ENUM, NAME, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING) NAME,
#include "torchtrt/layer_table.def"
#undef LAYER
};

TEST(Families, EveryLayerKindHasOneThatEndsWithTheReference) {
  for (const std::string& kind : kLayerKinds) {
    if (kind == "constant") {
      continue;
    }
    const Family* family = findFamily(kind);
    ASSERT_NE(family, nullptr) << kind;
    ASSERT_FALSE(family->implementations.empty()) << kind;
    EXPECT_STREQ(family->implementations.back().name, "reference") << kind;
  }
  EXPECT_EQ(findFamily("constant"), nullptr);
}

TEST(Families, AreSortedLayerKindsWithDistinctImplementations) {
  const std::set<std::string> kinds(kLayerKinds.begin(), kLayerKinds.end());
  std::string previous;
  for (const Family& family : families()) {
    EXPECT_TRUE(kinds.contains(family.name)) << family.name;
    EXPECT_LT(previous, family.name);
    previous = family.name;
    std::set<std::string> names;
    for (const Implementation& implementation : family.implementations) {
      EXPECT_NE(implementation.create, nullptr);
      EXPECT_TRUE(names.insert(implementation.name).second) << family.name << " " << implementation.name;
      EXPECT_EQ(family.find(implementation.name), &implementation);
    }
  }
}

// Hints of saved plans and timing caches hold earlier names.
TEST(Families, KnowTheirImplementationsByEarlierNames) {
  for (const Family& family : families()) {
    for (const Implementation& implementation : family.implementations) {
      const std::string former = implementation.former;
      if (!former.empty()) {
        EXPECT_EQ(family.find(former), &implementation) << family.name << " " << former;
      }
    }
    EXPECT_EQ(family.find("no such implementation"), nullptr);
    EXPECT_EQ(family.find(""), nullptr);
  }
  EXPECT_STREQ(findFamily("convolution")->find("highway")->name, "packed_gemm");
  EXPECT_STREQ(findFamily("convolution")->find("narrow")->name, "few_outputs");
}

testing::Case relu(DType dtype) {
  return {"activation",
          testing::makeAttributes({{"op", "relu"}}),
          {testing::makeTensor(dtype, {2}, {-1, 1})},
          {{dtype, {2}}}};
}

TEST(CreateKernel, TakesTheHintOtherwiseTheFirstThatAccepts) {
  const testing::Case layer = relu(DType::kFloat32);
  EXPECT_STREQ(createKernel(testing::problemOf(layer), "reference").implementation, "reference");
  const Chosen by_rule = createKernel(testing::problemOf(layer));
  const Chosen unknown_hint = createKernel(testing::problemOf(layer), "no such implementation");
  EXPECT_NE(by_rule.kernel, nullptr);
  EXPECT_STREQ(unknown_hint.implementation, by_rule.implementation);
}

TEST(CreateKernel, NotesEveryRefusalBeforeTheReference) {
  const testing::Case layer = relu(DType::kInt16);
  const Chosen chosen = createKernel(testing::problemOf(layer));
  EXPECT_STREQ(chosen.implementation, "reference");
  EXPECT_EQ(chosen.refusals.size() + 1, findFamily("activation")->implementations.size());
  for (const auto& [name, refusal] : chosen.refusals) {
    EXPECT_FALSE(refusal.code.empty()) << name;
    EXPECT_FALSE(refusal.reason.empty()) << name;
  }
}

TEST(CreateKernel, SaysWhyWhenNothingAccepts) {
  testing::Case layer = relu(DType::kInt32);
  layer.attributes.set("op", "tanh");
  try {
    createKernel(testing::problemOf(layer));
    FAIL() << "a tanh of integers was accepted";
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("'tanh' is not defined for int32"), std::string::npos) << error.what();
  }
}

TEST(CreateKernel, RejectsAFamilyOfAnotherVersion) {
  testing::Case layer = relu(DType::kFloat32);
  layer.family = "levitation";
  try {
    createKernel(testing::problemOf(layer));
    FAIL() << "an unknown family was accepted";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlanVersion);
    EXPECT_NE(error.message().find("levitation"), std::string::npos);
  }
}

TEST(DenseStrides, FollowTheMemoryOrder) {
  EXPECT_EQ(denseStrides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(denseStrides({2, 3, 4}, {0, 2, 1}), (std::vector<int64_t>{12, 1, 3}));
  EXPECT_EQ(denseStrides({2, 0, 4}), (std::vector<int64_t>{4, 4, 1}));
  EXPECT_EQ(denseStrides({}), std::vector<int64_t>());
  EXPECT_THROW(denseStrides({2, 3}, {0}), InternalError);
}

TEST(ShapeSet, KnowsItsDimsByName) {
  ShapeSet shapes;
  shapes.dims = {{"size", {4, 5}}};
  EXPECT_EQ(shapes.dimsOf("size"), (std::vector<int64_t>{4, 5}));
  EXPECT_THROW(shapes.dimsOf("start"), InternalError);
}

}  // namespace
}  // namespace torchtrt::kernels
