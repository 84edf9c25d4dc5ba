// Threads that do different things with one engine at a time. The thread sanitizer sees what the answers may not show.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/load.h"
#include "support/run_together.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using testing::errorOf;
using testing::HostTensor;
using testing::PlanMaker;
using testing::runTogether;

constexpr int64_t kRows = 40, kColumns = 24, kMost = 32;

const std::vector<float>& productWeights() {
  static const std::vector<float> values = HostTensor::counting({kRows, kColumns}).values;
  return values;
}

// y = relu(x) * w for a batch of 1 to 32 rows: a workspace, and a weight that is let go and can be restored.
std::shared_ptr<const LoadedEngine> productEngine(const LoadOptions& options) {
  PlanMaker make("product");
  const plan::Register n = make.symbol("n", 1, 4, kMost);
  const int32_t relu = make.activation("relu", make.input("x", {n, make.number(kRows)}));
  const int32_t w = make.floats("w", {kRows, kColumns}, productWeights());
  make.output("y", make.step("matrix_multiply", {relu, w}, {n, make.number(kColumns)}));
  return loadMade(make, options);
}

HostTensor inputOf(int64_t batch) {
  return HostTensor::counting({batch, kRows});
}

TEST(Threads, FirstCallsTogetherMakeOneSpecialization) {
  const std::vector<float> expected = callEngine(*productEngine({}), {inputOf(7)})[0].values();
  for (int round = 0; round < 20; ++round) {
    const auto engine = productEngine({.prepare = false});
    std::atomic<int> wrong = 0;
    const auto call = [&] { wrong += callEngine(*engine, {inputOf(7)}, 2)[0].values() != expected ? 1 : 0; };
    runTogether({call, call, call, call});
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(engine->cache().size(), 1U);
  }
}

// The cache has room for one set of shapes: what one thread runs is evicted by the others.
TEST(Threads, MayDoDifferentThingsAtOnce) {
  const auto engine = productEngine({.shape_cache_bytes = 1});
  const bool restores = engine->restoresWeight(0);
  ASSERT_EQ(restores, testing::testDevice().kind() != std::string_view("cuda")) << "no kernel of a GPU packs weights";
  std::vector<std::vector<float>> expected(1);
  for (int64_t batch = 1; batch <= kMost; ++batch) {
    expected.push_back(callEngine(*engine, {inputOf(batch)})[0].values());
  }
  const std::string text = engine->inspect();
  std::atomic<int> wrong = 0;
  const auto call = [&](int64_t step) {
    for (int64_t i = 0; i < 300; ++i) {
      const int64_t batch = 1 + i * step % kMost;
      wrong += callEngine(*engine, {inputOf(batch)}, 1 + static_cast<int>(i % 2))[0].values() !=
                       expected[static_cast<size_t>(batch)]
                   ? 1
                   : 0;
    }
  };
  const auto restore = [&] {
    std::vector<float> restored(productWeights().size());
    for (int i = 0; i < 300 && restores; ++i) {
      std::fill(restored.begin(), restored.end(), -1.0F);
      engine->restoreWeight(0, std::as_writable_bytes(std::span(restored)), 2);
      wrong += restored != productWeights() ? 1 : 0;
    }
  };
  const auto fail = [&] {
    for (int i = 0; i < 300; ++i) {
      wrong += errorOf([&] { callEngine(*engine, {inputOf(kMost + 1)}); }).empty() ? 1 : 0;
    }
  };
  const auto ask = [&] {
    for (int64_t i = 0; i < 100; ++i) {
      const HostTensor x = inputOf(1 + i % kMost);
      const std::vector<TensorView> views = {x.view()};
      wrong += engine->outputShapes(views)[0] != std::vector<int64_t>{x.dims[0], kColumns} ? 1 : 0;
      const testing::InputsOnDevice given(testing::testDevice(), views);
      wrong += engine->workspaceBytes(views) == 0 || engine->profile(given.views(), 1, 1).size() != 2 ? 1 : 0;
      wrong += engine->inspect() != text || engine->cache().size() > 1 ? 1 : 0;
    }
  };
  runTogether({[&] { call(7); }, [&] { call(11); }, restore, fail, ask});
  EXPECT_EQ(wrong, 0);
}

// The last engine of all takes its thread's workspace with it, whenever others begin theirs.
TEST(Threads, MayLoadCallAndDropEnginesOfTheirOwn) {
  const std::vector<float> expected = callEngine(*productEngine({}), {inputOf(5)})[0].values();
  std::atomic<int> wrong = 0;
  const auto live = [&] {
    for (int i = 0; i < 30; ++i) {
      auto engine = productEngine({});
      wrong += callEngine(*engine, {inputOf(5)}, 2)[0].values() != expected ? 1 : 0;
      std::thread([last = std::move(engine), &wrong, &expected]() mutable {
        wrong += callEngine(*last, {inputOf(5)})[0].values() != expected ? 1 : 0;
        last.reset();
      }).join();
    }
  };
  runTogether({live, live, live});
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace torchtrt::engine
