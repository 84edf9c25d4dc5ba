// randomGraph() uses this generator of networks that give every pass something to do. Plain layers grow in
// random_graph.cpp; random_pieces.cpp has what passes recognize or remove.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::optimization::testing {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

class Generator {
 public:
  explicit Generator(uint32_t seed);
  std::unique_ptr<Network> run();

 private:
  uint32_t pick(uint32_t n) {
    return static_cast<uint32_t>(random_()) % n;
  }
  bool chance(uint32_t one_in) {
    return pick(one_in) == 0;
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(pick(1000)) / 1000.0;
  }

  // Recent values more often, so that chains form.
  Tensor* any();
  Tensor* constant(const std::vector<int64_t>& dims, double low, double high);
  Tensor* scalar(double value) {
    return constant(std::vector<int64_t>(pick(2), 1), value, value);
  }
  Tensor* add(Layer* layer) {
    return layer->getOutput(0);
  }
  Tensor* elementwise(Tensor* a, Tensor* b, const char* op);
  bool isImage(const Tensor* x) const {
    return x->rank() == 4 && x->getDimensions()[1].isConstant() && x->getDimensions()[2].isConstant() &&
           x->getDimensions()[3].isConstant();
  }
  int64_t size(const Tensor* x, int axis) const {
    return x->getDimensions()[axis].constant();
  }
  static int64_t elementsPerSample(const Tensor* x);

  // Each makes something of a value, or returns null where it does not fit.
  void grow();
  Tensor* convolution(Tensor* x);
  Tensor* deconvolution(Tensor* x);
  Tensor* batchNorm(Tensor* x);
  Tensor* scaleOrShift(Tensor* x);
  Tensor* activation(Tensor* x);
  Tensor* residual(Tensor* x);
  Tensor* pooling(Tensor* x);
  Tensor* padding(Tensor* x);
  Tensor* shuffle(Tensor* x);
  Tensor* reduce(Tensor* x);
  Tensor* linear(Tensor* x);
  Tensor* slice(Tensor* x);
  Tensor* concatenate(Tensor* x);
  Tensor* softmax(Tensor* x);

  // An activation spelled out.
  Tensor* pieces(Tensor* x);
  Tensor* doesNothing(Tensor* x);
  // Constants on both sides, then added.
  Tensor* constantSum(Tensor* x);
  Tensor* twice(Tensor* x);
  Tensor* arithmetic(Tensor* x);
  // Layer or rms normalization in pieces, over the last axis.
  Tensor* normalization(Tensor* x);
  // softmax(x x^T * c + mask) x, by itself, as gpt_attention of x + c, or as attention whose operands are products of x
  Tensor* attention(Tensor* x);
  // x, rolled along an axis
  Tensor* roll(Tensor* x);
  Tensor* gptAttention(Tensor* x);
  Tensor* attentionOfProducts(Tensor* x);
  // An integer product of a network input's steps whose result is read in steps again, at times transposed. Of an input
  // and with scales that are powers of two, since a step must not depend on how a pass rounds what comes before.
  Tensor* integerProduct(Tensor* x);
  // x * transpose(x)
  Tensor* transposedProduct(Tensor* x);

  std::mt19937 random_;
  std::unique_ptr<Network> network_;
  std::vector<Tensor*> values_;
  DType dtype_ = DType::kFloat32;
};

}  // namespace torchtrt::optimization::testing
