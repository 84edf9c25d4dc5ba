#include "support/random_network.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "support/random_layers.h"
#include "torchtrt/error.h"

namespace torchtrt::test {
namespace {

using network::Layer;
using network::Network;
using network::Tensor;

class Maker : RandomLayers {
 public:
  Maker(uint64_t seed, const RandomNetworkOptions& options)
      : RandomLayers(seed), layers_(options.layers), odd_sizes_(options.odd_sizes) {
    network_->setName("random_" + std::to_string(seed));
    const bool symbolic = options.symbolic && chance(2);
    if (symbolic) {
      network_->addSymbol({"n", 1, 2, 4});
    }
    const Dim batch = symbolic ? Dim::symbol("n") : Dim(pick(odd_sizes_ ? 0 : 1, 3));
    if (odd_sizes_) {
      addOddInputs(batch);
      return;
    }
    pool_.push_back(network_->addInput("image", DType::kFloat32, {batch, pick(1, 4), pick(4, 9), pick(4, 9)}));
    pool_.push_back(network_->addInput("vector", DType::kFloat32, {batch, pick(2, 8)}));
  }

  std::unique_ptr<Network> make() {
    std::vector<std::function<Layer*(Tensor&)>> makers = {
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
  // The image has two sizes that may be large: the interpreter takes a second for a million numbers.
  void addOddInputs(const Dim& batch) {
    static constexpr int64_t kSizes[] = {0,  1,  1,  2,  3,  5,  7,  8,  9,  15,  16,
                                         17, 31, 32, 33, 47, 48, 63, 64, 65, 127, 129};
    const auto odd = [this] { return kSizes[index(std::size(kSizes))]; };
    std::vector<Dim> image = {batch, odd(), odd(), pick(1, 5)};
    std::swap(image[1 + index(3)], image[3]);
    pool_.push_back(network_->addInput("image", DType::kFloat32, Dims(std::move(image))));
    pool_.push_back(network_->addInput("vector", DType::kFloat32, {batch, odd()}));
  }

  int layers_;
  bool odd_sizes_;
  int made_ = 0;
};

}  // namespace

std::unique_ptr<network::Network> randomNetwork(uint64_t seed, const RandomNetworkOptions& options) {
  return Maker(seed, options).make();
}

std::unique_ptr<network::Network> networkOfOddSizes(uint64_t seed, int layers) {
  try {
    auto network = randomNetwork(seed, {.layers = layers, .odd_sizes = true});
    verify(*network);
    return network;
  } catch (const CompileError&) {
    return nullptr;
  }
}

}  // namespace torchtrt::test
