// Every allocation of a call fails once. What is caught in between may be left half done, and the next call shows it.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocations.h"
#include "load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using testing::HostTensor;
using testing::KeptOutputs;
using testing::PlanMaker;

// Calls it with the first, the second, ... allocation failing, until there are none left to fail. Returns how many
// there were. What did with less memory than it asked for (std::stable_sort) has to be right all the same.
int failEveryAllocation(const LoadedEngine& engine, const HostTensor& input, const std::vector<float>& expected) {
  const std::vector<TensorView> views = {input.view()};
  for (int count = 0;; ++count) {
    KeptOutputs outputs;
    outputs.outputs.resize(1);
    testing::refuseAllocation(count);
    try {
      engine.enqueue(views, outputs, 1);
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory) << error.what();
      continue;
    }
    const bool is_last = testing::allocationsBeforeRefusal() >= 0;
    testing::refuseAllocation(-1);
    EXPECT_EQ(outputs.outputs[0].values(), expected);
    if (is_last) {
      return count;
    }
  }
}

// y = relu(x) * w + b of a transposed x, which the engine copies.
std::shared_ptr<const LoadedEngine> manySteps(const LoadOptions& options) {
  PlanMaker make("steps");
  const plan::Register n = make.symbol("n", 1, 1, 64);
  const plan::Register width = make.number(8);
  const int32_t x = make.input("x", {n, width});
  const int32_t relu = make.activation("relu", make.view("same", x, {n, width}));
  const int32_t product =
      make.step("matrix_multiply", {relu, make.floats("w", {8, 8}, HostTensor::counting({8, 8}).values)}, {n, width});
  make.output("y", make.elementwise("sum", product, make.floats("b", {8}, {0, 1, 2, 3, 4, 5, 6, 7})));
  return loadMade(make, options);
}

HostTensor transposed(int64_t batch) {
  HostTensor x = HostTensor::counting({batch, 8});
  x.strides = {1, batch};
  return x;
}

TEST(OutOfMemory, AnyAllocationOfACallMayFail) {
  // Room for about three sets of shapes, so that some of them go while others come.
  const size_t one = [] {
    const auto engine = manySteps({.prepare = false});
    callEngine(*engine, {transposed(3)});
    return engine->cache().bytes();
  }();
  const auto sound = manySteps({});
  const auto engine = manySteps({.shape_cache_bytes = 3 * one + one / 2, .prepare = false});
  for (int64_t batch = 1; batch <= 20; ++batch) {
    const HostTensor x = transposed(batch);
    const auto expected = callEngine(*sound, {x})[0].values();
    EXPECT_GT(failEveryAllocation(*engine, x, expected), 20) << "a set of shapes was made";
    EXPECT_EQ(callEngine(*engine, {x})[0].values(), expected);
    EXPECT_EQ(engine->cache().size(), static_cast<size_t>(std::min<int64_t>(batch, 3)));
    EXPECT_EQ(engine->contexts().idle(), 1U);
  }
}

}  // namespace
}  // namespace torchtrt::engine
