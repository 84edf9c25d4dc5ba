// Small networks calibrated and quantized as a whole, run through engines and held against float.
#include "quantization/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "builder/builder.h"
#include "plan/plan.h"
#include "support/engine_call.h"

namespace torchtrt::quantization {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using torchtrt::testing::HostTensor;
using torchtrt::testing::viewsOf;
using Values = std::vector<float>;
using Batches = std::vector<std::vector<HostTensor>>;

// Around zero, the same for the same seed.
Values randomValues(int64_t count, uint32_t seed, float deviation = 1) {
  std::mt19937 random(seed);
  Values values(static_cast<size_t>(count));
  for (float& value : values) {
    double sum = -2;
    for (int j = 0; j < 4; ++j) {
      sum += static_cast<double>(random()) / 4294967296.0;
    }
    value = static_cast<float>(sum * 1.7) * deviation;
  }
  return values;
}

HostTensor randomTensor(std::vector<int64_t> dims, uint32_t seed, float deviation = 1) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    count *= dim;
  }
  return {std::move(dims), randomValues(count, seed, deviation)};
}

// A network whose weights are made here: small texts print their data, these would be long.
struct Maker {
  std::unique_ptr<network::Network> network = std::make_unique<network::Network>();
  uint32_t seed = 100;

  network::Weights weights(std::vector<int64_t> dims, float deviation = 1) {
    const HostTensor tensor = randomTensor(dims, ++seed, deviation);
    return network::Weights::copyOf(DType::kFloat32, std::move(dims), tensor.values.data());
  }
  network::Tensor* named(network::Layer* layer, const std::string& name) {
    layer->setName(name);
    layer->getOutput(0)->setName(name);
    return layer->getOutput(0);
  }
  network::Tensor* convolution(network::Tensor* x, int64_t channels, int64_t outputs, const std::string& name) {
    const network::Weights bias = weights({outputs}, 0.1F);
    network::Layer* layer = network->addConvolutionNd(
        *x, weights({outputs, channels, 3, 3}, 1 / std::sqrt(static_cast<float>(channels) * 9)), &bias);
    layer->setPaddingNd({1, 1});
    return named(layer, name);
  }
  network::Tensor* linear(network::Tensor* x, int64_t inputs, int64_t outputs, const std::string& name) {
    network::Tensor* right =
        network->addConstant(weights({inputs, outputs}, 1 / std::sqrt(static_cast<float>(inputs))))->getOutput(0);
    return named(network->addMatrixMultiply(*x, false, *right, false), name);
  }
  network::Tensor* relu(network::Tensor* x) {
    return network->addActivation(*x, "relu")->getOutput(0);
  }
};

// A residual network with a pool, for any batch and any size of image.
std::unique_ptr<network::Network> smallImageNetwork() {
  Maker make;
  make.network->addSymbol({"batch", 1, 2, 4});
  make.network->addSymbol({"side", 4, 8, 16});
  const Dim side = Dim::symbol("side");
  network::Tensor* x = make.network->addInput("x", DType::kFloat32, Dims({Dim::symbol("batch"), 3, side, side}));
  network::Tensor* stem = make.relu(make.convolution(x, 3, 16, "stem"));
  network::Tensor* inner = make.relu(make.convolution(stem, 16, 16, "inner"));
  network::Tensor* outer = make.convolution(inner, 16, 16, "outer");
  network::Tensor* block = make.relu(make.network->addElementWise(*outer, *stem, "sum")->getOutput(0));
  network::Tensor* pooled = make.network->addReduce(*block, "avg", {2, 3}, false)->getOutput(0);
  make.network->markOutput(*make.linear(pooled, 16, 10, "head"), "y");
  return std::move(make.network);
}

std::unique_ptr<network::Network> perceptron() {
  Maker make;
  network::Tensor* x = make.network->addInput("x", DType::kFloat32, Dims({8, 32}));
  network::Tensor* first = make.linear(x, 32, 64, "first");
  network::Tensor* bent = make.network->addActivation(*first, "gelu_erf")->getOutput(0);
  network::Tensor* second = make.linear(bent, 64, 64, "second");
  network::Tensor* sum = make.network->addElementWise(*second, *first, "sum")->getOutput(0);
  make.network->markOutput(*make.linear(sum, 64, 16, "third"), "y");
  return std::move(make.network);
}

Options smallLayersToo(Method method = Method::kEntropy) {
  Options options;
  options.method = method;
  options.min_multiplications = 0;
  return options;
}

void addAll(Calibration& calibration, const Batches& batches) {
  for (const std::vector<HostTensor>& batch : batches) {
    calibration.add(viewsOf(batch));
  }
}

Values runNetwork(const network::Network& network, const std::vector<HostTensor>& inputs) {
  const std::string bytes = plan::serialize(builder::optimizeAndBuild(network));
  engine::LoadOptions options;
  options.device = torchtrt::testing::testDeviceName();
  const auto engine = engine::Engine::load(torchtrt::testing::bytesOf(bytes), nullptr, {}, options);
  return torchtrt::testing::callEngine(*engine, inputs)[0].values();
}

double relativeError(const Values& got, const Values& expected) {
  EXPECT_EQ(got.size(), expected.size());
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - static_cast<double>(expected[i]), 2);
    size += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(difference / size);
}

Batches imageBatches() {
  return {{randomTensor({2, 3, 8, 8}, 1)}, {randomTensor({1, 3, 16, 16}, 2)}, {randomTensor({4, 3, 4, 4}, 3)}};
}

std::vector<std::string> quantizedLayers(const Quantized& result) {
  std::vector<std::string> names;
  for (const LayerChoice& choice : result.layers) {
    if (choice.is_quantized) {
      names.push_back(choice.layer);
    }
  }
  return names;
}

TEST(Calibration, OfAnImageNetworkStaysNearFloat) {
  const auto network = smallImageNetwork();
  for (const Method method : {Method::kEntropy, Method::kMinMax, Method::kPercentile}) {
    for (const bool symmetric : {false, true}) {
      Options options = smallLayersToo(method);
      options.symmetric = symmetric;
      Calibration calibration(*network, options);
      EXPECT_TRUE(calibration.hasCandidates());
      addAll(calibration, imageBatches());
      EXPECT_EQ(calibration.batches(), 3U);
      const Quantized result = calibration.quantize(calibration.ranges());
      network::verify(*result.network);
      EXPECT_EQ(quantizedLayers(result).size(), 4U);
      // Calibration has not seen these shapes and images.
      for (const std::vector<HostTensor>& inputs :
           {std::vector{randomTensor({2, 3, 8, 8}, 11)}, std::vector{randomTensor({3, 3, 12, 12}, 12)}}) {
        const double error = relativeError(runNetwork(*result.network, inputs), runNetwork(*network, inputs));
        EXPECT_LT(error, 0.05) << "method " << static_cast<int>(method) << ", symmetric " << symmetric;
        EXPECT_GT(error, 1e-6) << "nothing was quantized";
      }
    }
  }
}

// Boxes of 2 x 3 pixels, with different weights for each: a tap in another's place would be far off.
TEST(Calibration, OfADeconvolutionStaysNearFloat) {
  Maker make;
  make.network->addSymbol({"side", 4, 8, 16});
  const Dim side = Dim::symbol("side");
  network::Tensor* x = make.network->addInput("x", DType::kFloat32, Dims({2, 32, 5, side}));
  const network::Weights bias = make.weights({10});
  network::Layer* layer = make.network->addDeconvolutionNd(*x, make.weights({32, 10, 2, 3}, 0.2F), &bias);
  layer->setStrideNd({2, 3});
  network::Tensor* joined = make.relu(make.named(layer, "spread"));
  make.network->markOutput(*make.convolution(joined, 10, 8, "behind"), "y");
  Calibration calibration(*make.network, smallLayersToo(Method::kMinMax));
  addAll(calibration, {{randomTensor({2, 32, 5, 8}, 1)}, {randomTensor({2, 32, 5, 4}, 2)}});
  const Quantized result = calibration.quantize(calibration.ranges());
  network::verify(*result.network);
  EXPECT_EQ(quantizedLayers(result).size(), 2U);
  const std::vector<HostTensor> inputs = {randomTensor({2, 32, 5, 12}, 11)};
  const double error = relativeError(runNetwork(*result.network, inputs), runNetwork(*make.network, inputs));
  EXPECT_LT(error, 0.03);
  EXPECT_GT(error, 1e-6);
}

TEST(Calibration, OfAPerceptronStaysNearFloat) {
  const auto network = perceptron();
  Calibration calibration(*network, smallLayersToo(Method::kMinMax));
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    const std::vector<HostTensor> batch = {randomTensor({8, 32}, seed)};
    calibration.add(viewsOf(batch));
  }
  const Quantized result = calibration.quantize(calibration.ranges());
  EXPECT_EQ(quantizedLayers(result).size(), 3U);
  const std::vector<HostTensor> inputs = {randomTensor({8, 32}, 20)};
  const double error = relativeError(runNetwork(*result.network, inputs), runNetwork(*network, inputs));
  EXPECT_LT(error, 0.02);
  EXPECT_GT(error, 1e-6);
}

// A result of an integer layer for integer layers alone never reaches memory in float32.
TEST(Calibration, LeavesNoFloatBetweenProducts) {
  Calibration calibration(*smallImageNetwork(), smallLayersToo());
  addAll(calibration, imageBatches());
  const auto network = std::move(calibration.quantize(calibration.ranges()).network);
  const plan::Plan plan = builder::optimizeAndBuild(*network);
  int quantizes = 0;
  for (const plan::Step& step : plan.steps) {
    quantizes += step.family == "quantize" ? 1 : 0;
  }
  EXPECT_EQ(quantizes, 2) << "the input, and what is averaged\n" << plan::print(plan);
}

TEST(Calibration, CollectsTheRangesOfWhatIsMultiplied) {
  const auto network = network::parse(R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 2]
  %w = constant() {} : float32[2, 2] data=[1, 0, 0, -1]
  %v = constant() {} : float32[2, 1] data=[1, 1]
  %first = matrix_multiply(%x, %w) {}
  %y = matrix_multiply(%first, %v) {}
  output "y" %y
})");
  Calibration calibration(*network, smallLayersToo(Method::kMinMax));
  addAll(calibration, {{HostTensor({1, 2}, {1, 2})}, {HostTensor({2, 2}, {-3, 4, 0.5, -7})}});
  const Ranges ranges = calibration.ranges();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges.at("x").low, -7);
  EXPECT_EQ(ranges.at("x").high, 4);
  EXPECT_EQ(ranges.at("first").low, -4);
  EXPECT_EQ(ranges.at("first").high, 7);
}

TEST(Calibration, ABatchThatTheEngineRefusesChangesNothing) {
  Calibration calibration(*perceptron(), smallLayersToo());
  const std::vector<HostTensor> batch = {randomTensor({8, 32}, 1)};
  calibration.add(viewsOf(batch));
  const Ranges before = calibration.ranges();
  const std::vector<HostTensor> wrong = {randomTensor({9, 32}, 1, 100)};
  EXPECT_THROW(calibration.add(viewsOf(wrong)), EngineError);
  EXPECT_EQ(calibration.batches(), 1U);
  EXPECT_EQ(calibration.ranges().at("x").high, before.at("x").high);
}

// A batch whose tensors take too much memory runs for some of them at a time.
TEST(Calibration, GivesTheSameRangesInParts) {
  Options options = smallLayersToo();
  options.accuracy_target = 10;
  Calibration whole(*smallImageNetwork(), options);
  options.max_batch_bytes = 10000;
  Calibration in_parts(*smallImageNetwork(), options);
  addAll(whole, imageBatches());
  addAll(in_parts, imageBatches());
  Cache expected, got;
  expected.networks["n"] = whole.ranges();
  got.networks["n"] = in_parts.ranges();
  EXPECT_EQ(print(got), print(expected));
  EXPECT_EQ(in_parts.quantize(in_parts.ranges()).error, whole.quantize(whole.ranges()).error);
}

TEST(Calibration, ABatchMayBeStrided) {
  const auto network = network::parse(R"(network "n" () {
  input %x : float32[2, 2]
  %w = constant() {} : float32[2, 1] data=[1, 2]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})");
  Calibration calibration(*network, smallLayersToo(Method::kMinMax));
  HostTensor every_second({2, 2}, {1, 9, 2, 9, 3, 9, -4, 9});
  every_second.strides = {4, 2};
  calibration.add(viewsOf({every_second}));
  EXPECT_EQ(calibration.ranges().at("x").high, 3);
  EXPECT_EQ(calibration.ranges().at("x").low, -4);
}

// ---- determinism and caches ----

TEST(Calibration, DoesNotDependOnTheOrderOfBatches) {
  Calibration forward(*smallImageNetwork(), smallLayersToo());
  Calibration backward(*smallImageNetwork(), smallLayersToo());
  Batches batches = imageBatches();
  addAll(forward, batches);
  std::swap(batches[0], batches[2]);
  addAll(backward, batches);
  EXPECT_EQ(plan::serialize(builder::optimizeAndBuild(*forward.quantize(forward.ranges()).network)),
            plan::serialize(builder::optimizeAndBuild(*backward.quantize(backward.ranges()).network)));
}

TEST(Calibration, ACacheTakesThePlaceOfBatches) {
  Calibration calibrated(*smallImageNetwork(), smallLayersToo());
  addAll(calibrated, imageBatches());
  Cache cache;
  cache.networks[calibrated.key()] = calibrated.ranges();
  const Cache read = parseCache(print(cache));
  Calibration other(*smallImageNetwork(), smallLayersToo());
  ASSERT_EQ(read.networks.count(other.key()), 1U);
  EXPECT_EQ(network::print(*other.quantize(read.networks.at(other.key())).network),
            network::print(*calibrated.quantize(calibrated.ranges()).network));
}

TEST(Calibration, TheKeyKnowsWeightsButNotTheRangesOfSymbols) {
  const auto keyOf = [](const std::string& symbol, const std::string& weight, const std::string& name) {
    return Calibration(*network::parse("network \"" + name + "\" (s0 in " + symbol + R"() {
  input %x : float32[s0, 1]
  %w = constant() {} : float32[1, 1] data=[)" +
                                       weight + R"(]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})"),
                       {})
        .key();
  };
  const std::string key = keyOf("[1, 2, 4]", "3", "n");
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(keyOf("[1, 8, 9]", "3", "m"), key);
  EXPECT_NE(keyOf("[1, 2, 4]", "3.5", "n"), key);
}

// ---- accuracy ----

// Three layers, of which the middle one reads a channel 20,000 times as large as the others, which so have no steps.
std::unique_ptr<network::Network> sabotagedNetwork() {
  constexpr int64_t kWidth = 32;
  constexpr float kOutlier = 20000;
  Maker make;
  network::Tensor* x = make.network->addInput("x", DType::kFloat32, Dims({16, kWidth}));
  // tanh, and a clip that cuts nothing off: between them no pass can fold the scale into weights.
  network::Tensor* product = make.linear(x, kWidth, kWidth, "product");
  network::Tensor* bent = make.named(make.network->addActivation(*product, "tanh"), "first");
  Values scales(kWidth, 1);
  scales[5] = kOutlier;
  network::Tensor* scale =
      make.network->addConstant(network::Weights::copyOf(DType::kFloat32, {kWidth}, scales.data()))->getOutput(0);
  network::Tensor* scaled = make.network->addElementWise(*bent, *scale, "prod")->getOutput(0);
  network::Tensor* clipped = make.network->addActivation(*scaled, "clip", -30000, 30000)->getOutput(0);
  Values weights = randomValues(kWidth * kWidth, 7, 0.2F);
  for (int64_t i = 0; i < kWidth; ++i) {
    weights[static_cast<size_t>(5 * kWidth + i)] /= kOutlier;
  }
  network::Tensor* right =
      make.network->addConstant(network::Weights::copyOf(DType::kFloat32, {kWidth, kWidth}, weights.data()))
          ->getOutput(0);
  network::Tensor* second = make.network->addMatrixMultiply(*clipped, false, *right, false)->getOutput(0);
  network::Tensor* bent_again = make.named(make.network->addActivation(*second, "tanh"), "second");
  make.network->markOutput(*make.linear(bent_again, kWidth, 8, "third"), "y");
  return std::move(make.network);
}

Quantized quantizeWithin(double target, std::vector<size_t>* progress = nullptr) {
  Options options = smallLayersToo(Method::kMinMax);
  options.accuracy_target = target;
  if (progress) {
    options.progress = [progress](size_t done, size_t all) {
      EXPECT_EQ(all, 3U);
      progress->push_back(done);
    };
  }
  Calibration calibration(*sabotagedNetwork(), options);
  addAll(calibration, {{randomTensor({16, 32}, 1)}, {randomTensor({16, 32}, 2)}});
  return calibration.quantize(calibration.ranges());
}

TEST(AccuracyTarget, LeavesTheSabotagedLayerInFloat) {
  std::vector<size_t> progress;
  const Quantized result = quantizeWithin(0.05, &progress);
  EXPECT_THAT(quantizedLayers(result), ::testing::ElementsAre("first", "third"));
  EXPECT_THAT(progress, ::testing::ElementsAre(1, 2, 3));
  EXPECT_LE(result.error, 0.05);
  EXPECT_GT(result.error, 0);
  ASSERT_EQ(result.layers.size(), 3U);
  EXPECT_GT(result.layers[1].error, 0.3);
  EXPECT_LT(result.layers[0].error, 0.05);
  EXPECT_THAT(result.layers[1].reason, HasSubstr("costs more accuracy"));
  EXPECT_THAT(network::print(*result.network), HasSubstr("%second = matrix_multiply("));
  // The error is that of the engine.
  const std::vector<HostTensor> inputs = {randomTensor({16, 32}, 1)};
  EXPECT_LT(relativeError(runNetwork(*result.network, inputs), runNetwork(*sabotagedNetwork(), inputs)), 0.05);
}

TEST(AccuracyTarget, MeasuresNoLayerAloneWhereAllMeetIt) {
  std::vector<size_t> progress;
  const Quantized result = quantizeWithin(10, &progress);
  EXPECT_EQ(quantizedLayers(result).size(), 3U);
  EXPECT_TRUE(progress.empty());
  EXPECT_GT(result.error, 0.3);
  EXPECT_EQ(result.layers[1].error, -1);
}

TEST(AccuracyTarget, MayLeaveAllInFloat) {
  const Quantized result = quantizeWithin(1e-12);
  EXPECT_TRUE(quantizedLayers(result).empty());
  EXPECT_EQ(result.error, 0);
  EXPECT_THAT(network::print(*result.network), Not(HasSubstr("quantize")));
}

TEST(AccuracyTarget, WantsBatches) {
  Options options = smallLayersToo();
  options.accuracy_target = 0.1;
  Calibration calibration(*perceptron(), options);
  try {
    calibration.quantize({{"x", {-1, 1}}});
    FAIL() << "nothing was thrown";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    EXPECT_THAT(error.message(), HasSubstr("needs batches"));
  }
}

}  // namespace
}  // namespace torchtrt::quantization
