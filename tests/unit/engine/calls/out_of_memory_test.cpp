// Every allocation of a call fails once. An object that is caught in between may be left half done, and the next call
// shows it.
#include <gtest/gtest.h>

#include "engine/allocations.h"
#include "engine/load.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using testing::HostTensor;
using testing::KeptOutputs;
using testing::PlanMaker;

// y = relu(x) * w + b of a transposed x, which the engine copies.
std::shared_ptr<const LoadedEngine> manySteps(size_t shape_cache_bytes) {
  PlanMaker make("steps");
  const plan::Register n = make.symbol("n", 1, 1, 64);
  const plan::Register width = make.number(8);
  const int32_t x = make.input("x", {n, width});
  const int32_t relu = make.activation("relu", make.view("same", x, {n, width}));
  const int32_t product =
      make.step("matrix_multiply", {relu, make.floats("w", {8, 8}, HostTensor::counting({8, 8}).values)}, {n, width});
  make.output("y", make.elementwise("sum", product, make.floats("b", {8}, {0, 1, 2, 3, 4, 5, 6, 7})));
  return loadMade(make, {.shape_cache_bytes = shape_cache_bytes, .prepare = false});
}

HostTensor transposed(int64_t batch) {
  HostTensor x = HostTensor::counting({batch, 8});
  x.strides = {1, batch};
  return x;
}

// True if the call was refused an allocation. An algorithm that did with less memory than it asked for
// (std::stable_sort) has to be right all the same.
bool callRefusing(const LoadedEngine& engine, const HostTensor& x, int64_t allocations_before,
                  const std::vector<float>& expected) {
  const std::vector<TensorView> views = {x.view()};
  KeptOutputs outputs;
  outputs.outputs.resize(1);
  testing::refuseAllocation(allocations_before);
  try {
    engine.enqueue(views, outputs, 1);
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory) << error.what();
    return true;
  }
  const bool is_refused = testing::allocationsBeforeRefusal() < 0;
  testing::refuseAllocation(-1);
  EXPECT_EQ(outputs.outputs[0].values(), expected);
  return is_refused;
}

TEST(OutOfMemory, AnyAllocationOfACallMayFail) {
  if (!testing::testDevice().isHost()) {
    GTEST_SKIP() << "what a device allocates would be refused, too";
  }
  constexpr int64_t kLast = 5;
  const auto sound = manySteps(size_t{1} << 30);
  std::vector<size_t> bytes;
  std::vector<float> expected;
  for (int64_t batch = 1; batch <= kLast; ++batch) {
    expected = callEngine(*sound, {transposed(batch)})[0].values();
    bytes.push_back(sound->cache().bytes());
  }
  const size_t room = bytes[2] + bytes[0] / 2;  // for three sets of shapes: some go while others come
  int64_t refused = 0;
  for (bool is_refused = true; is_refused; ++refused) {
    const auto engine = manySteps(room);
    for (int64_t batch = 1; batch < kLast; ++batch) {
      callEngine(*engine, {transposed(batch)});
    }
    is_refused = callRefusing(*engine, transposed(kLast), refused, expected);
    EXPECT_EQ(callEngine(*engine, {transposed(kLast)})[0].values(), expected);
    EXPECT_EQ(engine->cache().size(), 3U) << "behind " << refused << " allocations";
    EXPECT_EQ(engine->cache().bytes(), bytes[kLast - 1] - bytes[kLast - 4]) << "behind " << refused << " allocations";
    EXPECT_EQ(engine->contexts().idle(), 1U);
  }
  EXPECT_GT(refused, 50) << "a set of shapes is made";
}

// A plugin allocates within a call, for its tables and for a thread's memory, too.
TEST(OutOfMemory, AnyAllocationOfAPluginMayFail) {
  if (!testing::testDevice().isHost()) {
    GTEST_SKIP() << "what a device allocates would be refused, too";
  }
  plugin::registerBuiltinPlugins();
  PlanMaker make("plugin");
  const int32_t x = make.input("x", make.dims({1, 1, 8, 8}));
  make.output("y", make.step("plugin_v2", {x}, make.dims({1, 1, 3, 5}),
                             {{"namespace", std::string("torchtrt")},
                              {"type", std::string("AntialiasedResize")},
                              {"version", std::string("1")},
                              {"mode", std::string("linear")},
                              {"size", std::vector<int64_t>{3, 5}},
                              {"align_corners", false},
                              {"scales", std::vector<double>{0, 0}}}));
  const auto engine = loadMade(make);
  const HostTensor image = HostTensor::counting({1, 1, 8, 8});
  const std::vector<float> expected = callEngine(*engine, {image})[0].values();
  int64_t refused = 0;
  while (callRefusing(*engine, image, refused, expected)) {
    ++refused;
  }
  EXPECT_GT(refused, 5) << "six tables and the lines";
  EXPECT_EQ(callEngine(*engine, {image})[0].values(), expected);
}

}  // namespace
}  // namespace torchtrt::engine
