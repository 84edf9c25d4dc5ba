#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using testing::HostTensor;
using testing::PlanMaker;

constexpr int64_t kDepth = 1100;
constexpr int64_t kColumns = 1024;

// y = x @ packed + read, with 4.5 MB that a kernel packs and rows that calls read as they were given.
plan::Plan madePlan() {
  PlanMaker make("shared");
  const int32_t x = make.input("x", make.dims({4, kDepth}));
  const int32_t w = make.floats("packed", {kDepth, kColumns}, randomFloats(kDepth * kColumns, 1));
  const int32_t product = make.step("matrix_multiply", {x, w}, make.dims({4, kColumns}));
  const int32_t b = make.floats("read", {4, kColumns}, randomFloats(4 * kColumns, 2));
  make.output("y", make.elementwise("sum", product, b));
  return make.plan();
}

std::vector<float> restored(const Engine& engine, size_t index, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  engine.restoreWeight(index, std::as_writable_bytes(std::span(values)));
  return values;
}

class SharedWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::testDevice().isHost()) {
      GTEST_SKIP() << "weights on other devices are that device's";
    }
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "every constant has memory of its own there, so that reads beyond its end are found";
#endif
  }
};

TEST_F(SharedWeights, GiveEqualResults) {
  const std::string bytes = plan::serialize(madePlan());
  const auto apart = loadBytes(bytes);
  const auto first = loadBytes(bytes, {.share_weights = true});
  const auto second = loadBytes(bytes, {.share_weights = true});
  EXPECT_EQ(apart->sharedBytes(), 0U);
  EXPECT_GE(first->sharedBytes(), static_cast<size_t>(kDepth * kColumns * 4));
  EXPECT_EQ(first->sharedBytes(), second->sharedBytes());
  const HostTensor x({4, kDepth}, randomFloats(4 * kDepth, 3));
  const std::vector<float> expected = callEngine(*apart, {x})[0].values();
  EXPECT_EQ(callEngine(*first, {x})[0].values(), expected);
  EXPECT_EQ(callEngine(*second, {x})[0].values(), expected);
}

TEST_F(SharedWeights, CanAllBeRestored) {
  const auto engine = loadBytes(plan::serialize(madePlan()), {.share_weights = true});
  ASSERT_TRUE(engine->restoresWeight(0));
  ASSERT_TRUE(engine->restoresWeight(1));
  EXPECT_EQ(restored(*engine, 0, kDepth * kColumns), randomFloats(kDepth * kColumns, 1));
  EXPECT_EQ(restored(*engine, 1, 4 * kColumns), randomFloats(4 * kColumns, 2));
}

TEST_F(SharedWeights, TellWhoseOriginalsMayGo) {
  const plan::Plan plan = madePlan();
  const std::string bytes = plan::serializeWithoutWeights(plan);
  std::vector<ExternalWeight> external;
  for (const plan::Weight& weight : plan.weights) {
    external.push_back({weight.data.get(), weight.bytes, weight.data});
  }
  std::vector<size_t> packed;
  LoadOptions options{.share_weights = true};
  options.packed = [&](size_t index) { packed.push_back(index); };
  const auto engine = loadOn(device::cpu(), testing::bytesOf(bytes), nullptr, external, options);
  EXPECT_THAT(packed, ::testing::ElementsAre(0, 1));
}

TEST_F(SharedWeights, AreSwitchedOnByTheEnvironment) {
  const std::string bytes = plan::serialize(madePlan());
  setenv("TORCHTRT_SHARE_WEIGHTS", "1", 1);
  const size_t on = loadBytes(bytes)->sharedBytes();
  setenv("TORCHTRT_SHARE_WEIGHTS", "0", 1);
  const size_t off = loadBytes(bytes)->sharedBytes();
  unsetenv("TORCHTRT_SHARE_WEIGHTS");
  EXPECT_GT(on, 0U);
  EXPECT_EQ(off, 0U);
}

TEST_F(SharedWeights, OfSmallEnginesStayPrivate) {
  EXPECT_EQ(smallEngine({.share_weights = true})->sharedBytes(), 0U);
}

}  // namespace
}  // namespace torchtrt::engine
