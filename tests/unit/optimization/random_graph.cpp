#include "optimization/random_graph.h"

#include <algorithm>

#include "optimization/graph_generator.h"
#include "torchtrt/plugin.h"

namespace torchtrt::optimization::testing {

namespace {

constexpr int kMaxElements = 600;  // per sample

}  // namespace

Generator::Generator(uint32_t seed) : random_(seed), network_(std::make_unique<Network>()) {
  plugin::registerBuiltinPlugins();
}

std::unique_ptr<Network> Generator::run() {
  network_->setName("random");
  network_->addSymbol({"s0", 1, 2, 4});
  dtype_ = chance(8) ? DType::kFloat64 : DType::kFloat32;
  const Dim batch = chance(3) ? Dim::symbol("s0") : Dim(2);
  const int64_t channels = 1 + pick(4);
  values_.push_back(network_->addInput("x", dtype_, Dims({batch, Dim(channels), Dim(3 + pick(4)), Dim(3 + pick(4))})));
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

Tensor* Generator::any() {
  const auto size = static_cast<uint32_t>(values_.size());
  return chance(3) ? values_[pick(size)] : values_[size - 1 - pick(std::min<uint32_t>(size, 2))];
}

Tensor* Generator::constant(const std::vector<int64_t>& dims, double low, double high) {
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

Tensor* Generator::elementwise(Tensor* a, Tensor* b, const char* op) {
  return chance(2) && (std::string(op) == "sum" || std::string(op) == "prod")
             ? add(network_->addElementWise(*b, *a, op))
             : add(network_->addElementWise(*a, *b, op));
}

void Generator::grow() {
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
                                        &Generator::attention,     &Generator::integerProduct,
                                        &Generator::roll};
  Tensor* grown = (this->*kGrowers[pick(std::size(kGrowers))])(any());
  // Bounded, so that chains of products neither overflow nor drown everything else.
  if (grown && chance(5)) {
    grown = add(network_->addActivation(*grown, "tanh"));
  }
  if (grown && elementsPerSample(grown) <= kMaxElements) {
    values_.push_back(grown);
  }
}

int64_t Generator::elementsPerSample(const Tensor* x) {
  int64_t elements = 1;
  for (const Dim& dim : x->getDimensions()) {
    elements *= dim.asConstant().value_or(1);
  }
  return elements;
}

Tensor* Generator::convolution(Tensor* x) {
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

Tensor* Generator::deconvolution(Tensor* x) {
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

Tensor* Generator::batchNorm(Tensor* x) {
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

Tensor* Generator::scaleOrShift(Tensor* x) {
  static constexpr const char* kOps[] = {"sum", "sub", "prod", "div"};
  std::vector<int64_t> dims;
  if (isImage(x) && !chance(3)) {
    dims = {size(x, 1), 1, 1};
  } else if (x->rank() == 2 && x->getDimensions()[1].isConstant()) {
    dims = {size(x, 1)};
  }
  return elementwise(x, constant(dims, 0.5, 1.5), kOps[pick(4)]);
}

Tensor* Generator::activation(Tensor* x) {
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

Tensor* Generator::residual(Tensor* x) {
  for (auto other = values_.rbegin(); other != values_.rend(); ++other) {
    if (*other != x && (*other)->getDimensions() == x->getDimensions()) {
      return add(network_->addElementWise(*x, **other, chance(4) ? "sub" : "sum"));
    }
  }
  return nullptr;
}

Tensor* Generator::pooling(Tensor* x) {
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

Tensor* Generator::padding(Tensor* x) {
  if (!isImage(x)) {
    return nullptr;
  }
  Attributes attributes;
  attributes.set("pre", Dims({0, 0, pick(2), pick(2)}));
  attributes.set("post", Dims({0, 0, pick(2), pick(2)}));
  attributes.set("value", chance(4) ? 1.0 : 0.0);
  return add(network_->addLayer(LayerType::kPADDING, {x}, attributes));
}

Tensor* Generator::shuffle(Tensor* x) {
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

Tensor* Generator::reduce(Tensor* x) {
  if (!isImage(x)) {
    return nullptr;
  }
  const std::vector<int64_t> axes = chance(3) ? std::vector<int64_t>{3} : std::vector<int64_t>{2, 3};
  return add(network_->addReduce(*x, chance(4) ? "max" : "avg", axes, chance(2)));
}

Tensor* Generator::linear(Tensor* x) {
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

Tensor* Generator::slice(Tensor* x) {
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

Tensor* Generator::concatenate(Tensor* x) {
  return x->rank() < 2 ? nullptr : add(network_->addConcatenation({x, x}, x->rank() - 1));
}

Tensor* Generator::softmax(Tensor* x) {
  return add(network_->addSoftMax(*x, x->rank() - 1));
}

std::unique_ptr<Network> randomGraph(uint32_t seed) {
  return Generator(seed).run();
}

}  // namespace torchtrt::optimization::testing
