// Random networks, calibrated on random batches: what comes of them is valid, builds, runs, and gives outputs of the
// same types and, except for what jumps with its operands, of about the same values.
#include <gtest/gtest.h>

#include <cmath>

#include "quantization/quantization.h"
#include "quantization/runs.h"
#include "support/interpreter.h"
#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::quantization {
namespace {

using network::Weights;

std::vector<engine::TensorView> viewsOf(const Tensors& tensors, std::vector<std::vector<int64_t>>& strides) {
  std::vector<engine::TensorView> views;
  strides.assign(tensors.size(), {});
  for (size_t i = 0; i < tensors.size(); ++i) {
    strides[i].assign(tensors[i].dims.size(), 1);
    for (size_t axis = strides[i].size(); axis-- > 1;) {
      strides[i][axis - 1] = strides[i][axis] * tensors[i].dims[axis];
    }
    views.push_back({tensors[i].dtype, static_cast<int32_t>(tensors[i].dims.size()), tensors[i].dims.data(),
                     strides[i].data(), tensors[i].data.get()});
  }
  return views;
}

// Returns the error in 2-norms; 0 unless it is of float32.
double relativeError(const Weights& got, const Weights& expected) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; expected.dtype == DType::kFloat32 && i < expected.count(); ++i) {
    const auto wanted = static_cast<double>(expected.as<float>()[i]);
    difference += std::pow(static_cast<double>(got.as<float>()[i]) - wanted, 2);
    size += wanted * wanted;
  }
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

TEST(RandomNetworks, AreQuantized) {
  int quantized = 0;
  int outputs = 0;
  int near = 0;
  const std::vector<uint64_t> seeds = test::seedsToTry(150);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    const auto network = test::randomNetwork(seed, {.layers = 40});
    Options options;
    options.min_multiplications = 0;
    options.symmetric = seed % 2 == 0;
    options.method = seed % 3 == 0 ? Method::kEntropy : seed % 3 == 1 ? Method::kMinMax : Method::kPercentile;
    options.accuracy_target = seed % 5 == 0 ? 0.01 : 0;
    Calibration calibration(*network, options);
    std::vector<std::vector<int64_t>> strides;
    for (const int64_t batch : {2, 4}) {
      const Tensors inputs = torchtrt::testing::randomInputs(
          *network, static_cast<uint32_t>(seed + static_cast<uint64_t>(batch)), {{"n", batch}});
      calibration.add(viewsOf(inputs, strides));
    }
    const Quantized result = calibration.quantize(calibration.ranges());
    network::verify(*result.network);
    for (const LayerChoice& choice : result.layers) {
      EXPECT_NE(choice.is_quantized, !choice.reason.empty()) << choice.layer;
      quantized += choice.is_quantized ? 1 : 0;
    }
    const Tensors inputs = torchtrt::testing::randomInputs(*network, static_cast<uint32_t>(seed), {{"n", 2}});
    const Tensors expected = run(*loadEngine(*network), inputs);
    const Tensors got = run(*loadEngine(*result.network), inputs);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].dtype, expected[i].dtype) << "output " << i;
      ASSERT_EQ(got[i].dims, expected[i].dims) << "output " << i;
      EXPECT_EQ(result.network->getOutputName(static_cast<int>(i)), network->getOutputName(static_cast<int>(i)));
      ++outputs;
      near += relativeError(got[i], expected[i]) < 0.1 ? 1 : 0;
    }
    if (HasFailure()) {
      return;
    }
  }
  if (seeds.size() > 1) {
    EXPECT_GT(quantized, 30);
    EXPECT_GT(near, outputs * 9 / 10) << "of " << outputs;
  }
}

}  // namespace
}  // namespace torchtrt::quantization
