#include "optimization/random_graph.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "torchtrt/plugin.h"

namespace torchtrt::optimization::testing {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

namespace {

constexpr int kMaxElements = 600;  // per sample

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed), network_(std::make_unique<Network>()) {
    plugin::registerBuiltinPlugins();
  }

  std::unique_ptr<Network> run() {
    network_->setName("random");
    network_->addSymbol({"s0", 1, 2, 4});
    dtype_ = chance(8) ? DType::kFloat64 : DType::kFloat32;
    const Dim batch = chance(3) ? Dim::symbol("s0") : Dim(2);
    const int64_t channels = 1 + pick(4);
    values_.push_back(
        network_->addInput("x", dtype_, Dims({batch, Dim(channels), Dim(3 + pick(4)), Dim(3 + pick(4))})));
    values_.push_back(network_->addInput("y", dtype_, Dims({batch, Dim(2 + pick(4))})));
    const int layers = 4 + static_cast<int>(pick(20));
    for (int i = 0; i < layers; ++i) {
      grow();
    }
    network_->markOutput(*values_.back(), "last");
    if (chance(2)) {
      network_->markOutput(*any(), "another");
    }
    return std::move(network_);
  }

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
  Tensor* any() {
    const auto size = static_cast<uint32_t>(values_.size());
    return chance(3) ? values_[pick(size)] : values_[size - 1 - pick(std::min<uint32_t>(size, 2))];
  }

  Tensor* constant(const std::vector<int64_t>& dims, double low, double high) {
    void* memory = nullptr;
    const Weights weights = Weights::allocate(dtype_, dims, &memory);
    for (size_t i = 0; i < weights.count(); ++i) {
      const double value = real(low, high);
      if (dtype_ == DType::kFloat64) {
        static_cast<double*>(memory)[i] = value;
      } else {
        static_cast<float*>(memory)[i] = static_cast<float>(value);
      }
    }
    return network_->addConstant(weights)->getOutput(0);
  }
  Tensor* scalar(double value) {
    return constant(std::vector<int64_t>(pick(2), 1), value, value);
  }
  Tensor* add(Layer* layer) {
    return layer->getOutput(0);
  }
  Tensor* elementwise(Tensor* a, Tensor* b, const char* op) {
    return chance(2) && (std::string(op) == "sum" || std::string(op) == "prod")
               ? add(network_->addElementWise(*b, *a, op))
               : add(network_->addElementWise(*a, *b, op));
  }

  bool isImage(const Tensor* x) const {
    return x->rank() == 4 && x->getDimensions()[1].isConstant() && x->getDimensions()[2].isConstant() &&
           x->getDimensions()[3].isConstant();
  }
  int64_t size(const Tensor* x, int axis) const {
    return x->getDimensions()[axis].constant();
  }

  void grow() {
    using Grower = Tensor* (Generator::*)(Tensor*);
    static constexpr Grower kGrowers[] = {&Generator::convolution,   &Generator::convolution,
                                          &Generator::deconvolution, &Generator::batchNorm,
                                          &Generator::batchNorm,     &Generator::scaleOrShift,
                                          &Generator::scaleOrShift,  &Generator::activation,
                                          &Generator::activation,    &Generator::pieces,
                                          &Generator::residual,      &Generator::residual,
                                          &Generator::pooling,       &Generator::padding,
                                          &Generator::shuffle,       &Generator::shuffle,
                                          &Generator::doesNothing,   &Generator::reduce,
                                          &Generator::linear,        &Generator::linear,
                                          &Generator::slice,         &Generator::concatenate,
                                          &Generator::constantSum,   &Generator::twice,
                                          &Generator::softmax,       &Generator::transposedProduct,
                                          &Generator::arithmetic,    &Generator::normalization,
                                          &Generator::attention};
    Tensor* grown = (this->*kGrowers[pick(std::size(kGrowers))])(any());
    // Bounded, so that chains of products neither overflow nor drown everything else.
    if (grown && chance(5)) {
      grown = add(network_->addActivation(*grown, "tanh"));
    }
    if (grown && elementsPerSample(grown) <= kMaxElements) {
      values_.push_back(grown);
    }
  }

  static int64_t elementsPerSample(const Tensor* x) {
    int64_t elements = 1;
    for (const Dim& dim : x->getDimensions()) {
      elements *= dim.asConstant().value_or(1);
    }
    return elements;
  }

  Tensor* convolution(Tensor* x) {
    if (!isImage(x)) {
      return nullptr;
    }
    const int64_t channels = size(x, 1);
    const int64_t window = std::min<int64_t>({1 + 2 * static_cast<int64_t>(pick(2)), size(x, 2), size(x, 3)});
    const bool depthwise = chance(3);
    const int64_t outputs = depthwise ? channels * (1 + pick(2)) : 1 + pick(5);
    Tensor* kernel = constant({outputs, depthwise ? 1 : channels, window, window}, -0.5, 0.5);
    Attributes attributes;
    attributes.set("groups", depthwise ? channels : int64_t{1});
    attributes.set("pre_padding", std::vector<int64_t>{pick(2), pick(2)});
    attributes.set("post_padding", std::vector<int64_t>{pick(2), pick(2)});
    attributes.set("stride", std::vector<int64_t>(2, 1 + pick(2)));
    std::vector<Tensor*> inputs = {x, kernel};
    if (chance(2)) {
      inputs.push_back(constant({outputs}, -1, 1));
    }
    Tensor* output = add(network_->addLayer(LayerType::kCONVOLUTION, inputs, attributes));
    if (chance(2)) {
      output = batchNorm(output);
    }
    if (chance(3)) {
      inputs[1] = constant({outputs, depthwise ? 1 : channels, window, window}, -0.5, 0.5);
      Tensor* shortcut = add(network_->addLayer(LayerType::kCONVOLUTION, inputs, attributes));
      output = elementwise(output, chance(2) ? shortcut : activation(shortcut), "sum");
    }
    return chance(3) ? scaleOrShift(output) : output;
  }

  Tensor* deconvolution(Tensor* x) {
    if (!isImage(x)) {
      return nullptr;
    }
    const int64_t groups = size(x, 1) % 2 == 0 ? 2 : 1;
    const int64_t outputs_per_group = 1 + pick(2);
    Tensor* kernel = constant({size(x, 1), outputs_per_group, 2, 2}, -0.5, 0.5);
    Attributes attributes;
    attributes.set("groups", groups);
    std::vector<Tensor*> inputs = {x, kernel};
    if (chance(2)) {
      inputs.push_back(constant({outputs_per_group * groups}, -1, 1));
    }
    return add(network_->addLayer(LayerType::kDECONVOLUTION, inputs, attributes));
  }

  Tensor* batchNorm(Tensor* x) {
    if (x->rank() < 2 || !x->getDimensions()[1].isConstant()) {
      return nullptr;
    }
    const int64_t channels = size(x, 1);
    Attributes attributes;
    attributes.set("mode", std::string("batch"));
    attributes.set("eps", 1e-5);
    const bool affine = !chance(3);
    return add(network_->addLayer(
        LayerType::kNORMALIZATION,
        {x, affine ? constant({channels}, 0.5, 1.5) : nullptr, affine ? constant({channels}, -1, 1) : nullptr,
         constant({channels}, -1, 1), constant({channels}, 0.5, 2)},
        attributes));
  }

  Tensor* scaleOrShift(Tensor* x) {
    static constexpr const char* kOps[] = {"sum", "sub", "prod", "div"};
    std::vector<int64_t> dims;
    if (isImage(x) && !chance(3)) {
      dims = {size(x, 1), 1, 1};
    } else if (x->rank() == 2 && x->getDimensions()[1].isConstant()) {
      dims = {size(x, 1)};
    }
    return elementwise(x, constant(dims, 0.5, 1.5), kOps[pick(4)]);
  }

  Tensor* activation(Tensor* x) {
    switch (pick(6)) {
      case 0:
        return add(network_->addActivation(*x, "clip", -0.5, 1.5));
      case 1:
        return add(network_->addActivation(*x, "leaky_relu", 0.1));
      case 2:
        return add(network_->addActivation(*x, "hard_swish"));
      case 3:
        return add(network_->addActivation(*x, "sigmoid"));
      default:
        return add(network_->addActivation(*x, "relu"));
    }
  }

  // An activation spelled out.
  Tensor* pieces(Tensor* x) {
    switch (pick(6)) {
      case 0:
        return elementwise(x, add(network_->addActivation(*x, "sigmoid")), "prod");
      case 1: {
        Tensor* clipped = add(network_->addActivation(*elementwise(x, scalar(3), "sum"), "clip", 0, 6));
        return elementwise(chance(2) ? elementwise(x, clipped, "prod") : clipped, scalar(6), "div");
      }
      case 2: {
        Tensor* hard = add(network_->addActivation(*x, "hard_sigmoid", 1.0 / 6, 0.5));
        return elementwise(x, hard, "prod");
      }
      case 3: {
        Tensor* scaled = elementwise(x, scalar(std::sqrt(2.0)), "div");
        Tensor* cdf = elementwise(add(network_->addUnary(*scaled, "erf")), scalar(1), "sum");
        return elementwise(elementwise(x, scalar(0.5), "prod"), cdf, "prod");
      }
      case 4: {
        Tensor* from_below = add(network_->addElementWise(*x, *scalar(-0.5), "max"));
        return add(network_->addElementWise(*from_below, *scalar(1), "min"));
      }
      default: {
        Tensor* softplus = add(network_->addActivation(*x, "softplus", 1, 20));
        return elementwise(x, add(network_->addActivation(*softplus, "tanh")), "prod");
      }
    }
  }

  Tensor* residual(Tensor* x) {
    for (auto other = values_.rbegin(); other != values_.rend(); ++other) {
      if (*other != x && (*other)->getDimensions() == x->getDimensions()) {
        return add(network_->addElementWise(*x, **other, chance(4) ? "sub" : "sum"));
      }
    }
    return nullptr;
  }

  Tensor* pooling(Tensor* x) {
    if (!isImage(x) || size(x, 2) < 2 || size(x, 3) < 2) {
      return nullptr;
    }
    if (chance(3)) {
      Attributes attributes;
      attributes.set("op", std::string("average"));
      attributes.set("output_size", chance(2) ? Dims({1, 1}) : Dims({x->getDimensions()[2], x->getDimensions()[3]}));
      return add(network_->addLayer(LayerType::kADAPTIVE_POOLING, {x}, attributes));
    }
    const bool whole = chance(3);
    Layer* layer =
        network_->addPoolingNd(*x, whole || chance(2) ? "average" : "max",
                               whole ? std::vector<int64_t>{size(x, 2), size(x, 3)} : std::vector<int64_t>{2, 2});
    if (!whole) {
      layer->setStrideNd({1 + pick(2), 1 + pick(2)});
      layer->setPaddingNd({pick(2), pick(2)});
      layer->setAttribute("ceil_mode", chance(3));
      layer->setAttribute("count_include_pad", chance(2));
    }
    return add(layer);
  }

  Tensor* padding(Tensor* x) {
    if (!isImage(x)) {
      return nullptr;
    }
    Attributes attributes;
    attributes.set("pre", Dims({0, 0, pick(2), pick(2)}));
    attributes.set("post", Dims({0, 0, pick(2), pick(2)}));
    attributes.set("value", chance(4) ? 1.0 : 0.0);
    return add(network_->addLayer(LayerType::kPADDING, {x}, attributes));
  }

  Tensor* shuffle(Tensor* x) {
    Layer* layer = network_->addShuffle(*x);
    if (chance(3)) {
      layer->setReshapeDimensions(x->getDimensions());
    } else if (chance(2) && x->rank() >= 2) {
      layer->setReshapeDimensions(Dims({0, -1}));  // keeps the first dimension and flattens the others
    } else {
      std::vector<int64_t> permutation;
      for (int64_t axis = 0; axis < x->rank(); ++axis) {
        permutation.push_back(axis);
      }
      for (int i = x->rank() - 1; i > 1; --i) {  // the batch stays in front
        std::swap(permutation[static_cast<size_t>(i)], permutation[1 + pick(static_cast<uint32_t>(i))]);
      }
      layer->setFirstTranspose(permutation);
    }
    return add(layer);
  }

  Tensor* doesNothing(Tensor* x) {
    switch (pick(6)) {
      case 0:
        return add(network_->addIdentity(*x));
      case 1:
        return add(network_->addCast(*add(network_->addCast(*x, DType::kFloat64)), dtype_));
      case 2: {
        const Dims zero(std::vector<Dim>(static_cast<size_t>(x->rank()), Dim(0)));
        return add(
            network_->addSlice(*x, zero, x->getDimensions(), std::vector<int64_t>(static_cast<size_t>(x->rank()), 1)));
      }
      case 3:
        return add(network_->addConcatenation({x}, x->rank() - 1));
      case 4:
        return elementwise(x, scalar(1), chance(2) ? "prod" : "div");
      default: {
        Attributes attributes;
        attributes.set("dims", x->getDimensions());
        return add(network_->addLayer(LayerType::kEXPAND, {x}, attributes));
      }
    }
  }

  Tensor* reduce(Tensor* x) {
    if (!isImage(x)) {
      return nullptr;
    }
    const std::vector<int64_t> axes = chance(3) ? std::vector<int64_t>{3} : std::vector<int64_t>{2, 3};
    return add(network_->addReduce(*x, chance(4) ? "max" : "avg", axes, chance(2)));
  }

  Tensor* linear(Tensor* x) {
    const auto columns = x->rank() >= 2 ? x->getDimensions()[x->rank() - 1].asConstant() : std::nullopt;
    if (!columns) {
      return nullptr;
    }
    const int64_t outputs = 1 + pick(6);
    const bool transposed = chance(2);
    Tensor* kernel = transposed ? constant({outputs, *columns}, -0.5, 0.5) : constant({*columns, outputs}, -0.5, 0.5);
    Tensor* product = add(network_->addMatrixMultiply(*x, false, *kernel, transposed));
    return chance(2) ? elementwise(product, constant({outputs}, -1, 1), "sum") : product;
  }

  Tensor* slice(Tensor* x) {
    const int axis = x->rank() - 1;
    const auto last = x->getDimensions()[axis].asConstant();
    if (axis < 1 || !last || *last < 2) {
      return nullptr;
    }
    Dims start(std::vector<Dim>(static_cast<size_t>(x->rank()), Dim(0)));
    Dims length = x->getDimensions();
    start[axis] = Dim(1);
    length[axis] = Dim(*last - 1);
    return add(network_->addSlice(*x, start, length, std::vector<int64_t>(static_cast<size_t>(x->rank()), 1)));
  }

  Tensor* concatenate(Tensor* x) {
    return x->rank() < 2 ? nullptr : add(network_->addConcatenation({x, x}, x->rank() - 1));
  }

  // Constants on both sides, then added.
  Tensor* constantSum(Tensor* x) {
    return elementwise(x, elementwise(scalar(real(0, 1)), scalar(0.25), "sum"), "sum");
  }

  Tensor* twice(Tensor* x) {
    Tensor* one = add(network_->addActivation(*x, "tanh"));
    Tensor* other = add(network_->addActivation(*x, "tanh"));
    return add(network_->addElementWise(*one, *other, "sum"));
  }

  Tensor* arithmetic(Tensor* x) {
    switch (pick(3)) {
      case 0:
        return add(network_->addElementWise(*x, *scalar(2), "pow"));
      case 1:  // of 1 and more
        return add(network_->addElementWise(
            *scalar(1), *elementwise(add(network_->addUnary(*x, "square")), scalar(1), "sum"), "div"));
      default:
        return elementwise(x, add(network_->addUnary(*x, "neg")), "sum");
    }
  }

  Tensor* softmax(Tensor* x) {
    return add(network_->addSoftMax(*x, x->rank() - 1));
  }

  // x * transpose(x)
  // Layer or rms normalization in pieces, over the last axis.
  Tensor* normalization(Tensor* x) {
    if (x->rank() < 2) {
      return nullptr;
    }
    const int64_t axis = x->rank() - 1;
    Tensor* centered = x;
    if (chance(2)) {
      centered = elementwise(x, add(network_->addReduce(*x, "avg", {axis}, true)), "sub");
    }
    Tensor* square = chance(2) ? add(network_->addUnary(*centered, "square")) : elementwise(centered, centered, "prod");
    Tensor* spread = elementwise(add(network_->addReduce(*square, "avg", {axis}, true)), scalar(0.01), "sum");
    Tensor* normal = chance(2) ? elementwise(centered, add(network_->addUnary(*spread, "rsqrt")), "prod")
                               : elementwise(centered, add(network_->addUnary(*spread, "sqrt")), "div");
    return chance(2) || !x->getDimensions()[static_cast<int>(axis)].isConstant()
               ? normal
               : elementwise(normal, constant({size(x, static_cast<int>(axis))}, 0.5, 2), chance(2) ? "prod" : "sum");
  }

  // softmax(x x^T * c) x, by itself or as gpt_attention of x + c
  Tensor* attention(Tensor* x) {
    if (x->rank() < 3 || dtype_ != DType::kFloat32) {
      return nullptr;
    }
    if (isImage(x) && chance(2)) {
      return gptAttention(x);
    }
    Tensor* scores = add(network_->addMatrixMultiply(*x, false, *x, true));
    if (chance(2)) {
      scores = elementwise(scores, scalar(0.5), chance(2) ? "prod" : "div");
    }
    Tensor* weights = add(network_->addSoftMax(*scores, x->rank() - 1));
    return add(network_->addMatrixMultiply(*weights, false, *x, false));
  }

  Tensor* gptAttention(Tensor* x) {
    Layer* flat = network_->addShuffle(*x);
    const Dims& dims = x->getDimensions();
    flat->setReshapeDimensions({dims[0], dims[1] * dims[2], dims[3]});
    const int64_t head_size = 2;
    Tensor* weights = constant({size(x, 3), 3 * head_size}, -1, 1);
    Tensor* product = add(network_->addMatrixMultiply(*add(flat), false, *weights, false));
    Tensor* bounded = add(network_->addActivation(*product, "tanh"));
    Tensor* qkv = elementwise(bounded, constant({3 * head_size}, -1, 1), "sum");
    Attributes fields;
    fields.set("namespace", std::string("tensorrt_llm"));
    fields.set("type", std::string("GPTAttention"));
    fields.set("version", std::string("1"));
    fields.set("num_heads", int64_t{1});
    fields.set("head_size", head_size);
    fields.set("operands", std::string("qkv"));
    return add(network_->addLayer(LayerType::kPLUGIN_V2, {qkv}, fields));
  }

  Tensor* transposedProduct(Tensor* x) {
    if (x->rank() < 3 || !isImage(x)) {
      return nullptr;
    }
    Layer* transpose = network_->addShuffle(*x);
    transpose->setFirstTranspose({0, 1, 3, 2});
    return add(network_->addMatrixMultiply(*x, false, *add(transpose), false));
  }

  std::mt19937 random_;
  std::unique_ptr<Network> network_;
  std::vector<Tensor*> values_;
  DType dtype_ = DType::kFloat32;
};

}  // namespace

std::unique_ptr<Network> randomGraph(uint32_t seed) {
  return Generator(seed).run();
}

}  // namespace torchtrt::optimization::testing
