// Random networks whose calls are replayed as CUDA graphs, with other tensors and the same ones, against the
// interpreter.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "builder/run.h"
#include "cuda/counted_driver.h"
#include "support/interpreter.h"
#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::cuda {
namespace {

using network::Weights;

// The row-major tensors of one call in memory of the device, which stays until this dies.
class Tensors {
 public:
  explicit Tensors(const std::vector<Weights>& inputs) {
    for (const Weights& input : inputs) {
      laid_out_.emplace_back(input, false);
      views_.push_back({input.dtype, static_cast<int32_t>(input.dims.size()), input.dims.data(),
                        laid_out_.back().strides.data(), laid_out_.back().memory.data()});
    }
    given_ = std::make_unique<torchtrt::testing::InputsOnDevice>(torchtrt::testing::testDevice(), views_);
  }
  std::vector<Weights> call(const engine::Engine& engine) {
    outputs_.push_back(std::make_unique<torchtrt::testing::KeptOutputs>(torchtrt::testing::testDevice()));
    engine.enqueue(given_->views(), *outputs_.back(), 1);
    std::vector<Weights> results;
    for (const auto& output : outputs_.back()->outputs) {
      results.push_back(Weights::copyOf(output.dtype, output.dims, output.values<char>().data()));
    }
    return results;
  }

 private:
  std::vector<builder::LaidOut> laid_out_;
  std::vector<engine::TensorView> views_;
  std::unique_ptr<torchtrt::testing::InputsOnDevice> given_;
  std::vector<std::unique_ptr<torchtrt::testing::KeptOutputs>> outputs_;  // so that each call has others
};

TEST(ReplayedNetworks, RunAsTheInterpreterSays) {
  const testing::CountedDriver counted;
  for (const uint64_t seed : test::seedsToTry(100)) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    const auto network = test::randomNetwork(seed);
    const auto engine = builder::loadPlan(builder::optimizeAndBuild(*network), {});
    for (int which = 0; which < 2; ++which) {
      const std::vector<Weights> inputs =
          torchtrt::testing::randomInputs(*network, static_cast<uint32_t>(seed + (which == 0 ? 0 : 1000)), {{"n", 2}});
      const std::optional<std::vector<Weights>> expected = torchtrt::testing::interpretIfPossible(*network, inputs);
      if (!expected) {
        break;
      }
      Tensors tensors(inputs);
      for (int call = 0; call < 4; ++call) {
        const std::vector<Weights> got = tensors.call(*engine);
        ASSERT_EQ(got.size(), expected->size());
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_TRUE(torchtrt::testing::agree(got[i], (*expected)[i]))
              << "call " << call << ", output " << i << " of\n"
              << network::print(*network);
        }
      }
    }
  }
  EXPECT_GT(counted.counts().instantiated, 20);
  EXPECT_GT(counted.counts().graphs, 4 * counted.counts().instantiated);
  EXPECT_GT(counted.counts().set, 0);
}

}  // namespace
}  // namespace torchtrt::cuda
