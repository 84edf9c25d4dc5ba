// One plan of a random network on the CPU and on the GPU, whose answers are the interpreter's and each other's.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/run.h"
#include "support/double_reference.h"
#include "support/interpreter.h"
#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::cuda {
namespace {

using network::Weights;

std::shared_ptr<const engine::Engine> loadOn(const std::string& device, const std::string& plan) {
  engine::LoadOptions options;
  options.device = device;
  return engine::Engine::load(torchtrt::testing::bytesOf(plan), nullptr, {}, options);
}

void expectAgreement(const network::Network& network, const std::vector<Weights>& inputs,
                     const std::vector<Weights>& got, const std::vector<Weights>& expected, const char* of) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const auto agreement = torchtrt::testing::agree(got[i], expected[i]);
    if (!agreement && !torchtrt::testing::isRounding(network, inputs, i, got[i], expected[i])) {
      ADD_FAILURE() << "output " << i << " of " << of << ": " << agreement.message();
    }
  }
}

void runOnBoth(const network::Network& network, uint64_t seed, int& compared) {
  SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
  std::string plan;
  try {
    plan = plan::serialize(builder::optimizeAndBuild(network));
  } catch (const CompileError&) {  // its sizes may not fit together for the optimum of its symbols
    return;
  }
  const auto on_cpu = loadOn("cpu", plan);
  const auto on_gpu = loadOn(torchtrt::testing::testDeviceName(), plan);
  for (const int64_t batch : {2, 1, 4}) {
    const std::vector<Weights> inputs =
        torchtrt::testing::randomInputs(network, static_cast<uint32_t>(seed), {{"n", batch}});
    const std::optional<std::vector<Weights>> expected = torchtrt::testing::interpretIfPossible(network, inputs);
    if (!expected) {
      continue;
    }
    const std::vector<Weights> cpu = builder::runEngine(*on_cpu, inputs, /*threads=*/2);
    const std::vector<Weights> gpu = builder::runEngine(*on_gpu, inputs);
    expectAgreement(network, inputs, cpu, *expected, "the CPU and the interpreter");
    expectAgreement(network, inputs, gpu, *expected, "the GPU and the interpreter");
    expectAgreement(network, inputs, gpu, cpu, "the GPU and the CPU");
    ++compared;
    if (network.symbols().empty() || ::testing::Test::HasFailure()) {
      break;
    }
  }
  if (::testing::Test::HasFailure()) {
    ADD_FAILURE() << network::print(network);
  }
}

TEST(BothDevices, AnswerAsTheInterpreterDoes) {
  int compared = 0;
  std::vector<uint64_t> seeds = test::seedsToTry(100);
  seeds.push_back(764);  // an output that rounding leaves alone: a normalized row is summed
  for (const uint64_t seed : seeds) {
    runOnBoth(*test::randomNetwork(seed), seed, compared);
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GE(10 * static_cast<size_t>(compared), 9 * seeds.size());
}

}  // namespace
}  // namespace torchtrt::cuda
