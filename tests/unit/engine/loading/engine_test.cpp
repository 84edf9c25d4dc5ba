#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

#include "engine/allocations.h"
#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::PlanMaker;

TEST(Engine, DescribesItsBindings) {
  const auto engine = smallEngine();
  EXPECT_EQ(engine->name(), "small");
  ASSERT_EQ(engine->inputs().size(), 1U);
  const BindingInfo& input = engine->inputs()[0];
  EXPECT_EQ(input.name, "x");
  EXPECT_THAT(input.dims, ElementsAre("n", "3"));
  EXPECT_THAT(input.min, ElementsAre(0, 3));
  EXPECT_THAT(input.opt, ElementsAre(4, 3));
  EXPECT_THAT(input.max, ElementsAre(8, 3));
  EXPECT_THAT(engine->outputs()[0].dims, ElementsAre("n", "3"));
}

TEST(Engine, KnowsOutputShapesWithoutData) {
  TensorView view = HostTensor::counting({1, 3}).view();
  const int64_t dims[] = {5, 3};
  view.dims = dims;
  view.data = nullptr;
  const auto shapes = smallEngine()->outputShapes(std::vector{view});
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_THAT(shapes[0], ElementsAre(5, 3));
}

TEST(Engine, ShowsWhatItRuns) {
  const auto engine = smallEngine({.force_reference = true});
  EXPECT_THAT(engine->inspect(),
              HasSubstr("1 activation \"activation1\" (%2) -> (%3) {alpha=0, beta=0, op=\"relu\"}  [reference]"));
  const HostTensor x = HostTensor::counting({2, 3});
  const testing::InputsOnDevice given(testing::testDevice(), std::vector{x.view()});
  const auto profile = engine->profile(given.views(), 3, 1);
  ASSERT_EQ(profile.size(), 2U);
  EXPECT_EQ(profile[1].family, "activation");
  EXPECT_EQ(profile[1].implementation, "reference");
  EXPECT_GT(profile[1].microseconds, 0);
}

TEST(Engine, ACallAllocatesNothingOfItsOwn) {
  if (!testing::testDevice().isHost()) {
    GTEST_SKIP() << "what a device allocates counts, too";
  }
  class Fixed : public OutputAllocator {
   public:
    void* allocate(int, DType, std::span<const int64_t>) override {
      return memory;
    }
    alignas(64) float memory[16];
  } fixed;
  const auto engine = smallEngine();
  // Kernels' allocations are theirs: an empty batch runs everything except kernels.
  const HostTensor input({0, 3}, {});
  const std::vector<TensorView> views = {input.view()};
  engine->enqueue(views, fixed, 1);
  const int64_t before = testing::allocations();
  for (int call = 0; call < 100; ++call) {
    engine->enqueue(views, fixed, 1);
  }
  EXPECT_EQ(testing::allocations(), before);
}

TEST(Engine, ManyShapesKeepMemoryFlat) {
  PlanMaker make;
  const plan::Register n = make.symbol("n", 1, 4, 100000);
  const int32_t x = make.input("x", {n});
  make.output("y", make.activation("relu", make.activation("relu", x)));
  const auto engine = loadMade(make, {.shape_cache_bytes = 64 << 10});
  for (int64_t size = 1; size <= 2000; ++size) {
    const auto outputs = callEngine(*engine, {HostTensor::counting({size})});
    ASSERT_EQ(outputs[0].dims[0], size);
  }
  EXPECT_LE(engine->cache().bytes(), size_t{64} << 10);
  EXPECT_GT(engine->cache().size(), 4U);
  // Contexts of a device with streams hold recordings, so that one waits for each of the last sets of shapes.
  EXPECT_EQ(engine->contexts().idle(), testing::testDevice().isHost() ? 1U : 16U);
}

TEST(Engine, TheShapesUsedLastStayCached) {
  const auto engine = smallEngine({.shape_cache_bytes = 1});
  const HostTensor two = HostTensor::counting({2, 3});
  const auto first = engine->scheduleFor(std::vector{two.view()}, 1);
  EXPECT_EQ(engine->scheduleFor(std::vector{two.view()}, 1), first);
  EXPECT_NE(engine->scheduleFor(std::vector{two.view()}, 2), first) << "another number of threads is another one";
  EXPECT_EQ(engine->cache().size(), 1U);
}

TEST(Engine, TheShapesUsedLongestAgoGo) {
  const auto of = [](const LoadedEngine& engine, int64_t rows) {
    const HostTensor x = HostTensor::counting({rows, 3});
    return engine.scheduleFor(std::vector{x.view()}, 1);
  };
  const auto roomy = smallEngine({.prepare = false});
  for (const int64_t rows : {1, 2, 3}) {
    of(*roomy, rows);
  }
  const auto engine = smallEngine({.shape_cache_bytes = roomy->cache().bytes() - 1, .prepare = false});
  const auto one = of(*engine, 1);
  const auto two = of(*engine, 2);
  EXPECT_EQ(of(*engine, 1), one);
  of(*engine, 3);
  EXPECT_EQ(of(*engine, 1), one);
  EXPECT_NE(of(*engine, 2), two);
}

TEST(Engine, HoldsOnlyTheWeightsItReads) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2}));
  make.floats("unused", {1000}, std::vector<float>(1000, 1.0F));
  make.output("y", make.elementwise("sum", x, make.floats("w", {2}, {1, 2})));
  EXPECT_EQ(loadMade(make, {.force_reference = true})->memoryBytes(), 8U);
}

TEST(Engine, RunsFromWeightsBesideThePlan) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2}));
  make.output("y", make.elementwise("sum", x, make.floats("w", {2}, {10, 20})));
  const std::string bytes = plan::serializeWithoutWeights(make.plan());
  auto weights = std::make_shared<std::vector<float>>(std::vector<float>{10, 20});
  LoadOptions options;
  options.device = testing::testDeviceName();
  const auto engine = Engine::load(testing::bytesOf(bytes), nullptr, {{weights->data(), 8, weights}}, options);
  weights.reset();
  EXPECT_THAT(callEngine(*engine, {HostTensor({2}, {1, 2})})[0].values(), ElementsAre(11, 22));
}

// Every original has an owner of its own, as the tensors of a file have.
TEST(Engine, LetsGoOfOriginalsThatItCanRestore) {
  PlanMaker make;
  std::vector<float> matrix(70 * 50);
  std::iota(matrix.begin(), matrix.end(), 0.1F);
  matrix[7] = -0.0F;
  matrix[8] = std::numeric_limits<float>::quiet_NaN();
  const int32_t x = make.input("x", make.dims({4, 70}));
  const int32_t flat = make.floats("w", {70 * 50}, matrix);
  const int32_t product =
      make.step("matrix_multiply", {x, make.view("m", flat, make.dims({70, 50}))}, make.dims({4, 50}));
  make.output("y", make.elementwise("sum", product, make.floats("b", {1, 50}, std::vector<float>(50, 1.0F))));
  const std::string bytes = plan::serializeWithoutWeights(make.plan());
  std::vector<std::weak_ptr<std::vector<float>>> owners;
  std::vector<ExternalWeight> external;
  for (const plan::Weight& weight : make.plan().weights) {
    const auto* from = static_cast<const float*>(weight.data.get());
    // 64-byte aligned, or the plan would copy it.
    auto owner = std::make_shared<std::vector<float>>(weight.bytes / sizeof(float) + 16);
    auto* to = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(owner->data()) + 63) / 64 * 64);
    std::copy_n(from, weight.bytes / sizeof(float), to);
    owners.push_back(owner);
    external.push_back({to, weight.bytes, owner});
  }
  LoadOptions options;
  options.device = testing::testDeviceName();
  const auto engine = Engine::load(testing::bytesOf(bytes), nullptr, std::move(external), options);
  EXPECT_TRUE(owners[0].expired());
  EXPECT_EQ(owners[1].expired(), !testing::testDevice().isHost()) << "the host's sum reads it where it lies";
  ASSERT_TRUE(engine->restoresWeight(0));
  EXPECT_FALSE(engine->restoresWeight(1));
  EXPECT_FALSE(engine->restoresWeight(2)) << "there are two";
  std::vector<float> restored(matrix.size());
  engine->restoreWeight(0, std::as_writable_bytes(std::span(restored)));
  EXPECT_EQ(std::memcmp(restored.data(), matrix.data(), matrix.size() * sizeof(float)), 0);
  EXPECT_THROW(engine->restoreWeight(0, std::as_writable_bytes(std::span(restored).first(9))), InternalError);
}

TEST(Engine, AsksForLastingMemoryOfWhatCallsReadAlone) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({4, 2}));
  const int32_t product = make.step("matrix_multiply", {x, make.floats("w", {2, 2}, {1, 2, 3, 4})}, make.dims({4, 2}));
  make.output("y", make.elementwise("sum", product, make.floats("b", {1, 2}, {10, 20})));
  const std::string bytes = plan::serializeWithoutWeights(make.plan());
  alignas(64) float w[] = {1, 2, 3, 4};
  alignas(64) float b[] = {10, 20};
  alignas(64) float lasting[] = {30, 40};
  const auto nobody = std::make_shared<int>();
  std::vector<size_t> asked;
  LoadOptions options;
  options.device = testing::testDeviceName();
  options.lasting = [&](size_t index) {
    asked.push_back(index);
    return std::shared_ptr<const void>(nobody, lasting);
  };
  const auto engine = Engine::load(testing::bytesOf(bytes), nullptr, {{w, 16, nobody}, {b, 8, nobody}}, options);
  const bool is_host = testing::testDevice().isHost();
  EXPECT_EQ(asked, is_host ? std::vector<size_t>{1} : std::vector<size_t>{}) << "a device has a copy of its own";
  std::fill(w, w + 4, 0.0F);
  std::fill(b, b + 2, 0.0F);
  const auto values = callEngine(*engine, {HostTensor({4, 2}, {1, 0, 0, 1, 1, 1, 0, 0})})[0].values();
  if (is_host) {
    EXPECT_THAT(values, ElementsAre(31, 42, 33, 44, 34, 46, 30, 40));
  } else {
    EXPECT_THAT(values, ElementsAre(11, 22, 13, 24, 14, 26, 10, 20));
  }
}

// A kernel packs its own form of the first weight, twice; the second weight is read by calls.
TEST(Engine, TellsOfEveryWeightOnceNobodyReadsItAnyMore) {
  const auto numbers = [](float first) {
    std::vector<float> values(70 * 70);
    std::iota(values.begin(), values.end(), first);
    return values;
  };
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({1, 70}));
  const int32_t twice = make.floats("w", {70, 70}, numbers(1.0F));
  const int32_t once = make.floats("v", {70, 70}, numbers(-3.0F));
  const int32_t added = make.floats("b", {1, 70}, std::vector<float>(70, 5.0F));
  int32_t y = make.step("matrix_multiply", {x, twice}, make.dims({1, 70}));
  y = make.step("matrix_multiply", {y, once}, make.dims({1, 70}));
  y = make.step("matrix_multiply", {y, twice}, make.dims({1, 70}));
  make.output("y", make.elementwise("sum", y, added));
  const HostTensor input({1, 70}, std::vector<float>(70, 1e-6F));
  const std::vector<float> expected = callEngine(*loadMade(make), {input})[0].values();

  const std::string bytes = plan::serializeWithoutWeights(make.plan());
  std::vector<ExternalWeight> external;
  for (const plan::Weight& weight : make.plan().weights) {
    std::shared_ptr<void> copy(std::aligned_alloc(64, (weight.bytes + 63) / 64 * 64), [](void* p) { std::free(p); });
    std::memcpy(copy.get(), weight.data.get(), weight.bytes);
    external.push_back({copy.get(), weight.bytes, copy});
  }
  std::vector<size_t> told;
  LoadOptions options;
  options.device = testing::testDeviceName();
  options.packed = [&](size_t index) {
    told.push_back(index);
    std::memset(const_cast<void*>(external[index].data), 0xFF, external[index].bytes);
  };
  const auto engine = Engine::load(testing::bytesOf(bytes), nullptr, external, options);
  EXPECT_THAT(told, ElementsAre(1, 0));
  EXPECT_EQ(callEngine(*engine, {input})[0].values(), expected);
}

TEST(Engine, ReferencesReadTheOriginals) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({4, 2}));
  const int32_t w = make.floats("w", {2, 2}, {1, 2, 3, 4});
  make.output("y", make.step("matrix_multiply", {x, w}, make.dims({4, 2})));
  EXPECT_FALSE(loadMade(make, {.force_reference = true})->restoresWeight(0));
}

TEST(Engine, BytesWithoutAnOwnerMayGoAfterLoading) {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({2}));
  make.output("y", make.elementwise("sum", x, make.floats("w", {2}, {10, 20})));
  auto bytes = std::make_unique<std::string>(plan::serialize(make.plan()));
  LoadOptions options;
  options.device = testing::testDeviceName();
  const auto engine = Engine::load(testing::bytesOf(*bytes), nullptr, {}, options);
  std::fill(bytes->begin(), bytes->end(), '\0');
  bytes.reset();
  EXPECT_THAT(callEngine(*engine, {HostTensor({2}, {1, 2})})[0].values(), ElementsAre(11, 22));
}

}  // namespace
}  // namespace torchtrt::engine
