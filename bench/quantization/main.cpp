// torchtrt-bench-int8: ResNet-50 with random weights, float32 against int8, in turns. Without libtorch, so that it runs
// on any machine that has the instructions.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "builder/builder.h"
#include "plan/plan.h"
#include "quantization/quantization.h"
#include "torchtrt/engine.h"
#include "torchtrt/network.h"

namespace {

using namespace torchtrt;  // NOLINT(google-build-using-namespace): a program of one file
using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

constexpr const char* kHelp = R"(usage: torchtrt-bench-int8 [options]
  --batch N     images of a call (default: 1)
  --threads N   threads of a call (default: 2)
  --rounds N    calls of each engine, in turns (default: 30)
  --steps       time of every step, too
Prints quartiles of both engines in milliseconds, the ratio of the medians, and how far the results are apart.
)";

struct Options {
  int64_t batch = 1;
  int threads = 2;
  int rounds = 30;
  bool steps = false;
};

// He's initialization, so that values keep their size from layer to layer; half as large where a residual is added.
class ResNet50 {
 public:
  std::unique_ptr<Network> make(int64_t batch) {
    network_ = std::make_unique<Network>();
    network_->setName("resnet50");
    Tensor* x = network_->addInput("x", DType::kFloat32, Dims::of({batch, 3, 224, 224}));
    x = relu(convolution(*x, 64, 7, 2));
    Layer* pooling = network_->addPoolingNd(*x, "max", {3, 3});
    pooling->setStrideNd({2, 2});
    pooling->setPaddingNd({1, 1});
    x = pooling->getOutput(0);
    const int64_t blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
      for (int64_t i = 0; i < blocks[stage]; ++i) {
        x = bottleneck(*x, int64_t{64} << stage, i == 0 && stage > 0 ? 2 : 1, i == 0);
      }
    }
    x = network_->addReduce(*x, "avg", {2, 3}, false)->getOutput(0);
    Tensor* weights = network_->addConstant(random({2048, 1000}, 2048, 1))->getOutput(0);
    network_->markOutput(*network_->addMatrixMultiply(*x, false, *weights, false)->getOutput(0), "y");
    return std::move(network_);
  }

 private:
  Tensor* bottleneck(Tensor& x, int64_t width, int64_t stride, bool projects) {
    Tensor* y = relu(convolution(x, width, 1, 1));
    y = relu(convolution(*y, width, 3, stride));
    y = convolution(*y, 4 * width, 1, 1, 0.5);
    Tensor* shortcut = projects ? convolution(x, 4 * width, 1, stride) : &x;
    return relu(network_->addElementWise(*y, *shortcut, "sum")->getOutput(0));
  }
  Tensor* convolution(Tensor& x, int64_t outputs, int64_t size, int64_t stride, double gain = 1) {
    const int64_t channels = x.getDimensions()[1].constant();
    const Weights kernel = random({outputs, channels, size, size}, channels * size * size, gain);
    const Weights bias = random({outputs}, 200, 1);
    Layer* layer = network_->addConvolutionNd(x, kernel, &bias);
    layer->setStrideNd({stride, stride});
    layer->setPaddingNd({size / 2, size / 2});
    return layer->getOutput(0);
  }
  Tensor* relu(Tensor* x) {
    return network_->addActivation(*x, "relu")->getOutput(0);
  }
  Weights random(std::vector<int64_t> dims, int64_t fan_in, double gain) {
    void* data = nullptr;
    Weights weights = Weights::allocate(DType::kFloat32, std::move(dims), &data);
    std::normal_distribution<float> normal(0, static_cast<float>(gain * std::sqrt(2.0 / static_cast<double>(fan_in))));
    std::generate_n(static_cast<float*>(data), weights.count(), [&] { return normal(generator_); });
    return weights;
  }

  std::unique_ptr<Network> network_;
  std::mt19937 generator_{1};
};

std::shared_ptr<const engine::Engine> load(const Network& network) {
  const auto bytes = std::make_shared<const std::string>(plan::serialize(builder::optimizeAndBuild(network)));
  return engine::Engine::load(std::as_bytes(std::span(*bytes)), bytes);
}

class Output : public engine::OutputAllocator {
 public:
  void* allocate(int, DType, std::span<const int64_t> dims) override {
    const auto count = static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
    lines_.resize((count + std::size(Line().values) - 1) / std::size(Line().values));
    values = {lines_.data()->values, count};
    return lines_.data();
  }
  std::span<const float> values;

 private:
  struct alignas(64) Line {
    float values[16];
  };
  std::vector<Line> lines_;
};

class Images {
 public:
  explicit Images(int64_t batch, unsigned seed = 1)
      : dims_{batch, 3, 224, 224}, strides_{3 * 224 * 224, 224 * 224, 224, 1} {
    values_.resize(static_cast<size_t>(batch * strides_[0]));
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::generate(values_.begin(), values_.end(), [&] { return normal(generator); });
  }
  engine::TensorView view() const {
    return {DType::kFloat32, 4, dims_.data(), strides_.data(), values_.data()};
  }

 private:
  std::vector<int64_t> dims_, strides_;
  std::vector<float> values_;
};

struct Timed {
  const char* name;
  std::shared_ptr<const engine::Engine> engine;
  Output output = {};
  std::vector<double> milliseconds = {};

  void call(const engine::TensorView& input, int threads) {
    engine->enqueue({&input, 1}, output, threads);
  }
  double quartile(int number) {
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() * static_cast<size_t>(number) / 4];
  }
};

void compare(const Options& options) {
  const std::unique_ptr<Network> network = ResNet50().make(options.batch);
  quantization::Calibration calibration(*network, {.method = quantization::Method::kMinMax});
  const Images images(options.batch);
  const engine::TensorView input = images.view();
  calibration.add({&input, 1});
  const quantization::Quantized quantized = calibration.quantize(calibration.ranges());
  Timed engines[] = {{"float32", load(*network)}, {"int8", load(*quantized.network)}};
  for (Timed& timed : engines) {
    timed.call(input, options.threads);
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (Timed& timed : engines) {
      const auto before = std::chrono::steady_clock::now();
      timed.call(input, options.threads);
      const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - before;
      timed.milliseconds.push_back(passed.count());
    }
  }
  for (Timed& timed : engines) {
    std::printf("%-8s %8.2f ms  (%.2f to %.2f)\n", timed.name, timed.quartile(2), timed.quartile(1), timed.quartile(3));
    if (options.steps) {
      for (const engine::StepProfile& step : timed.engine->profile({&input, 1}, 5, options.threads)) {
        std::printf("  %-34s %-26s %-10s %9.1f us %8.1f GOP/s\n", step.name.c_str(), step.family.c_str(),
                    step.implementation.c_str(), step.microseconds, step.flops / step.microseconds / 1e3);
      }
    }
  }
  const auto is_quantized = [](const quantization::LayerChoice& choice) { return choice.is_quantized; };
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < engines[0].output.values.size(); ++i) {
    const double exact = engines[0].output.values[i];
    difference += std::pow(engines[1].output.values[i] - exact, 2);
    size += exact * exact;
  }
  std::printf("int8 is %.2fx as fast, %td of %zu layers quantized, relative error %.4f\n",
              engines[0].quartile(2) / engines[1].quartile(2),
              std::count_if(quantized.layers.begin(), quantized.layers.end(), is_quantized), quantized.layers.size(),
              std::sqrt(difference / size));
}

Options parseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help") {
      std::cout << kHelp;
      std::exit(0);
    }
    if (option == "--steps") {
      options.steps = true;
      continue;
    }
    const int value = i + 1 < argc ? std::atoi(argv[++i]) : 0;
    if (option == "--batch" && value > 0) {
      options.batch = value;
    } else if (option == "--threads" && value > 0) {
      options.threads = value;
    } else if (option == "--rounds" && value > 0) {
      options.rounds = value;
    } else {
      throw EngineError(ErrorCode::kInvalidOption, "option '" + option + "' is unknown or lacks its number", {},
                        "see --help");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    compare(parseOptions(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "torchtrt-bench-int8: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
