#include "support/random_network.h"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include "support/random_layers.h"

namespace torchtrt::test {
namespace {

using network::Layer;
using network::Network;
using network::Tensor;

class Maker : RandomLayers {
 public:
  Maker(uint64_t seed, const RandomNetworkOptions& options) : RandomLayers(seed), layers_(options.layers) {
    network_->setName("random_" + std::to_string(seed));
    const bool symbolic = options.symbolic && chance(2);
    if (symbolic) {
      network_->addSymbol({"n", 1, 2, 4});
    }
    const Dim batch = symbolic ? Dim::symbol("n") : Dim(pick(1, 3));
    pool_.push_back(network_->addInput("image", DType::kFloat32, {batch, pick(1, 4), pick(4, 9), pick(4, 9)}));
    pool_.push_back(network_->addInput("vector", DType::kFloat32, {batch, pick(2, 8)}));
  }

  std::unique_ptr<Network> make() {
    const std::vector<std::function<Layer*(Tensor&)>> makers = {
        [this](Tensor& x) { return convolution(x); },   [this](Tensor& x) { return deconvolution(x); },
        [this](Tensor& x) { return pooling(x); },       [this](Tensor& x) { return adaptivePooling(x); },
        [this](Tensor& x) { return activation(x); },    [this](Tensor& x) { return activation(x); },
        [this](Tensor& x) { return unary(x); },         [this](Tensor& x) { return elementwise(x); },
        [this](Tensor& x) { return elementwise(x); },   [this](Tensor& x) { return scaleOrShift(x); },
        [this](Tensor& x) { return scaleOrShift(x); },  [this](Tensor& x) { return matrixMultiply(x); },
        [this](Tensor& x) { return softMax(x); },       [this](Tensor& x) { return reduce(x); },
        [this](Tensor& x) { return permute(x); },       [this](Tensor& x) { return flatten(x); },
        [this](Tensor& x) { return slice(x); },         [this](Tensor& x) { return concatenate(x); },
        [this](Tensor& x) { return gather(x); },        [this](Tensor& x) { return select(x); },
        [this](Tensor& x) { return castAndBack(x); },   [this](Tensor& x) { return batchNormalization(x); },
        [this](Tensor& x) { return normalization(x); }, [this](Tensor& x) { return resize(x); },
        [this](Tensor& x) { return padding(x); },       [this](Tensor& x) { return topK(x); },
        [this](Tensor& x) { return expand(x); },        [this](Tensor& x) { return network_->addIdentity(x); },
        [this](Tensor& x) { return preluOf(x); },       [this](Tensor& x) { return addFill(x); },
        [this](Tensor& x) { return cumulate(x); },      [this](Tensor& x) { return scatter(x); },
        [this](Tensor& x) { return gridSample(x); },    [this](Tensor& x) { return recur(x); },
        [this](Tensor&) { return quantized(); },        [this](Tensor& x) { return integerWeights(x); },
    };
    // A maker that does not apply to the tensor gives nothing; enough others do.
    for (int attempt = 0; attempt < 20 * layers_ && made_ < layers_; ++attempt) {
      Tensor& operand = *pool_[index(pool_.size())];
      Layer* layer = makers[index(makers.size())](operand);
      if (layer == nullptr) {
        continue;
      }
      ++made_;
      if (chance(3)) {
        layer->setName("layer" + std::to_string(made_ / 2));  // on purpose often taken
      }
      if (chance(4)) {
        layer->setLocation({"model.py", static_cast<int>(pick(1, 99)), static_cast<int>(pick(1, 40)), "", "block.0"});
      }
      pool_.push_back(layer->getOutput(0));
    }
    const int64_t outputs = pick(1, 3);
    network_->markOutput(*pool_.back());
    for (int64_t i = 1; i < outputs; ++i) {
      network_->markOutput(*pool_[index(pool_.size())], chance(2) ? "out" : "");
    }
    return std::move(network_);
  }

 private:
  int layers_;
  int made_ = 0;
};

}  // namespace

std::unique_ptr<network::Network> randomNetwork(uint64_t seed, const RandomNetworkOptions& options) {
  return Maker(seed, options).make();
}

std::vector<uint64_t> seedsToTry(int count) {
  if (const char* seed = std::getenv("TORCHTRT_SEED")) {
    std::cerr << "replaying seed " << seed << " from TORCHTRT_SEED\n";
    return {std::strtoull(seed, nullptr, 10)};
  }
  std::cerr << "seeds 1 to " << count << "; TORCHTRT_SEED=<seed> replays one\n";
  std::vector<uint64_t> seeds;
  for (int i = 1; i <= count; ++i) {
    seeds.push_back(static_cast<uint64_t>(i));
  }
  return seeds;
}

}  // namespace torchtrt::test
