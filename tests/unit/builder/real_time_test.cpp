// Bound calls of random networks, which have every kind of layer that is no plugin: none allocates memory, takes a lock
// or calls the system, and each computes what an ordinary call does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "run.h"
#include "support/call_watch.h"
#include "support/interpreter.h"
#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::builder {
namespace {

using network::Weights;

// Outputs of an engine, each at the begin of a cache line.
class Outputs {
 public:
  explicit Outputs(const std::vector<Weights>& like) {
    for (const Weights& each : like) {
      memory_.push_back(device::cpu().allocate(std::max<size_t>(each.bytes(), 1), "an output of a test"));
      addresses_.push_back(memory_.back().data());
    }
  }
  std::span<void* const> addresses() const {
    return addresses_;
  }
  bool hold(size_t index, const Weights& expected) const {
    return std::memcmp(addresses_[index], expected.as<char>(), expected.bytes()) == 0;
  }

 private:
  std::vector<device::Memory> memory_;
  std::vector<void*> addresses_;
};

std::vector<engine::TensorView> viewsOf(const std::vector<Weights>& inputs, const std::vector<LaidOut>& tensors) {
  std::vector<engine::TensorView> views;
  views.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    views.push_back({inputs[i].dtype, static_cast<int32_t>(inputs[i].dims.size()), inputs[i].dims.data(),
                     tensors[i].strides.data(), tensors[i].memory.data()});
  }
  return views;
}

void expectQuiet(const engine::Engine& engine, const std::vector<Weights>& inputs, int threads, bool reversed) {
  const std::vector<Weights> expected = runEngine(engine, inputs, threads, reversed);
  const std::vector<LaidOut> tensors = [&] {
    std::vector<LaidOut> laid_out;
    laid_out.reserve(inputs.size());
    for (const Weights& input : inputs) {
      laid_out.emplace_back(input, reversed);
    }
    return laid_out;
  }();
  const Outputs outputs(expected);
  const std::unique_ptr<engine::BoundCall> call = engine.bind(viewsOf(inputs, tensors), outputs.addresses(), threads);
  for (int i = 0; i < 3; ++i) {
    const torchtrt::testing::Observed seen = torchtrt::testing::watchCall(threads, [&] { call->run(); });
    EXPECT_TRUE(seen.isQuiet()) << threads << " threads: " << seen.text();
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(outputs.hold(i, expected[i])) << "output " << i;
  }
}

TEST(RealTime, RandomNetworksAreQuiet) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  if (!testing::testDevice().isHost()) {
    GTEST_SKIP() << "calls are bound on the CPU alone";
  }
  for (const uint64_t seed : test::seedsToTry(100)) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    const auto network = test::randomNetwork(seed);
    const auto engine = loadPlan(optimizeAndBuild(*network), {.real_time = true});
    for (const int64_t batch : {2, 1}) {
      const std::vector<Weights> inputs =
          torchtrt::testing::randomInputs(*network, static_cast<uint32_t>(seed), {{"n", batch}});
      if (!torchtrt::testing::interpretIfPossible(*network, inputs)) {
        continue;
      }
      expectQuiet(*engine, inputs, 1, /*reversed=*/false);
      expectQuiet(*engine, inputs, 2, /*reversed=*/true);
    }
    if (HasFailure()) {
      FAIL() << network::print(*network);
    }
  }
}

}  // namespace
}  // namespace torchtrt::builder
