// Makers of single layers for random networks, each with a seed's choices of sizes and attributes.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::test {

// A maker takes the tensor that its layer reads and gives nothing where it does not apply.
class RandomLayers {
 public:
  explicit RandomLayers(uint64_t seed) : random_(seed), network_(std::make_unique<network::Network>()) {}

  network::Layer* convolution(network::Tensor& x);
  network::Layer* deconvolution(network::Tensor& x);
  network::Layer* pooling(network::Tensor& x);
  network::Layer* adaptivePooling(network::Tensor& x);
  network::Layer* activation(network::Tensor& x);
  network::Layer* unary(network::Tensor& x);
  network::Layer* elementwise(network::Tensor& x);
  network::Layer* scaleOrShift(network::Tensor& x);
  network::Layer* matrixMultiply(network::Tensor& x);
  network::Layer* softMax(network::Tensor& x);
  network::Layer* reduce(network::Tensor& x);
  network::Layer* permute(network::Tensor& x);
  network::Layer* flatten(network::Tensor& x);
  network::Layer* slice(network::Tensor& x);
  network::Layer* concatenate(network::Tensor& x);
  network::Layer* gather(network::Tensor& x);
  network::Layer* select(network::Tensor& x);
  network::Layer* castAndBack(network::Tensor& x);
  network::Layer* batchNormalization(network::Tensor& x);
  network::Layer* normalization(network::Tensor& x);
  network::Layer* resize(network::Tensor& x);
  network::Layer* padding(network::Tensor& x);
  network::Layer* topK(network::Tensor& x);
  network::Layer* expand(network::Tensor& x);
  network::Layer* preluOf(network::Tensor& x);
  network::Layer* cumulate(network::Tensor& x);
  network::Layer* scatter(network::Tensor& x);
  network::Layer* gridSample(network::Tensor& x);
  network::Layer* recur(network::Tensor& x);
  network::Layer* quantized();
  network::Layer* integerWeights(network::Tensor& x);
  network::Layer* addFill(network::Tensor& x);

 protected:
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  size_t index(size_t count) {
    return static_cast<size_t>(pick(0, static_cast<int64_t>(count) - 1));
  }
  bool chance(int of) {
    return pick(1, of) == 1;
  }
  std::string word(const std::vector<std::string>& words) {
    return words[index(words.size())];
  }

  static bool isImage(const network::Tensor& x) {
    return x.rank() == 4;
  }
  static bool isSmall(const network::Tensor& x) {
    int64_t count = 1;
    for (const Dim& dim : x.getDimensions()) {
      count *= dim.asConstant().value_or(4);
    }
    return count <= 4096;
  }
  static int64_t size(const network::Tensor& x, int axis) {
    return x.getDimensions()[axis].asConstant().value_or(0);
  }

  std::mt19937_64 random_;
  std::unique_ptr<network::Network> network_;
  std::vector<network::Tensor*> pool_;  // float32 tensors that further layers may take; the network's inputs first

 private:
  network::Tensor* constant(const std::vector<int64_t>& dims, double low, double high);
  network::Layer* normalize(const std::string& mode, const std::vector<network::Tensor*>& operands);
  network::Tensor* stepConstant(const std::vector<int64_t>& dims);
  network::Layer* dequantize(network::Tensor& steps, double scale, int64_t zero_point);
  network::Layer* stepProduct(network::Tensor& x, int64_t zero_point);
};

}  // namespace torchtrt::test
