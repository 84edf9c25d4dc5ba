// Spells out what passes recognize, fold or remove.
#include <cmath>
#include <numeric>

#include "optimization/graph_generator.h"

namespace torchtrt::optimization::testing {

Tensor* Generator::pieces(Tensor* x) {
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

Tensor* Generator::doesNothing(Tensor* x) {
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

Tensor* Generator::constantSum(Tensor* x) {
  return elementwise(x, elementwise(scalar(real(0, 1)), scalar(0.25), "sum"), "sum");
}

Tensor* Generator::twice(Tensor* x) {
  Tensor* one = add(network_->addActivation(*x, "tanh"));
  Tensor* other = add(network_->addActivation(*x, "tanh"));
  return add(network_->addElementWise(*one, *other, "sum"));
}

Tensor* Generator::arithmetic(Tensor* x) {
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

Tensor* Generator::normalization(Tensor* x) {
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

Tensor* Generator::integerProduct(Tensor*) {
  Tensor* x = network_->getInput(0);
  const int last = x->rank() - 1;
  if (dtype_ != DType::kFloat32 || last < 1 || !x->getDimensions()[last].isConstant()) {
    return nullptr;
  }
  Attributes steps;
  steps.set("to", DType::kInt8);
  steps.set("scale", 0.125);
  steps.set("low", int64_t{-127});
  steps.set("high", int64_t{127});
  Attributes in_float;
  in_float.set("to", DType::kFloat32);
  void* memory = nullptr;
  const Weights weights = Weights::allocate(DType::kInt8, {size(x, last), 3}, &memory);
  for (size_t i = 0; i < weights.count(); ++i) {
    static_cast<int8_t*>(memory)[i] = static_cast<int8_t>(static_cast<int>(pick(255)) - 127);
  }
  Tensor* input = add(network_->addLayer(LayerType::kQUANTIZE, {x}, steps));
  Tensor* product = add(network_->addLayer(
      LayerType::kQUANTIZED_MATRIX_MULTIPLY,
      {input, network_->addConstant(weights)->getOutput(0), constant({3}, 0.0009765625, 0.0009765625)}, in_float));
  if (chance(2)) {
    Layer* turned = network_->addShuffle(*product);
    std::vector<int64_t> permutation(static_cast<size_t>(last) + 1);
    std::iota(permutation.rbegin(), permutation.rend(), 0);
    turned->setFirstTranspose(permutation);
    product = add(turned);
  }
  Attributes back;
  back.set("scale", 0.125);
  return add(network_->addLayer(LayerType::kDEQUANTIZE,
                                {add(network_->addLayer(LayerType::kQUANTIZE, {product}, steps))}, back));
}

Tensor* Generator::roll(Tensor* x) {
  const int axis = x->rank() - 2;
  if (axis < 0 || !x->getDimensions().isStatic() || x->getDimensions()[axis].constant() < 2) {
    return nullptr;
  }
  const std::vector<int64_t> stride(static_cast<size_t>(x->rank()), 1);
  Dims start(std::vector<Dim>(stride.size(), Dim(0))), front = x->getDimensions(), back = front;
  front[axis] = 1;
  back[axis] = back[axis] - Dim(1);
  Tensor* first = add(network_->addSlice(*x, start, front, stride));
  start[axis] = 1;
  Tensor* rest = add(network_->addSlice(*x, start, back, stride));
  return add(network_->addConcatenation({rest, first}, axis));
}

Tensor* Generator::attention(Tensor* x) {
  if (x->rank() < 3 || dtype_ != DType::kFloat32) {
    return nullptr;
  }
  if (isImage(x) && chance(2)) {
    return chance(2) ? gptAttention(x) : attentionOfProducts(x);
  }
  Tensor* scores = add(network_->addMatrixMultiply(*x, false, *x, true));
  if (chance(2)) {
    scores = elementwise(scores, scalar(0.5), chance(2) ? "prod" : "div");
  }
  const auto queries = x->getDimensions()[x->rank() - 2].asConstant();
  if (queries && chance(2)) {
    scores = elementwise(scores, constant({chance(2) ? *queries : 1, *queries}, -1, 1), "sum");
  }
  Tensor* weights = add(network_->addSoftMax(*scores, x->rank() - 1));
  return add(network_->addMatrixMultiply(*weights, false, *x, false));
}

Tensor* Generator::gptAttention(Tensor* x) {
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

Tensor* Generator::attentionOfProducts(Tensor* x) {
  Layer* flat = network_->addShuffle(*x);
  const Dims& dims = x->getDimensions();
  flat->setReshapeDimensions({dims[0], dims[1] * dims[2], dims[3]});
  const int64_t heads = 2, head_size = 2;
  Tensor* rows = add(flat);
  std::vector<Tensor*> operands;
  for (int i = 0; i < 3; ++i) {
    Tensor* weights = constant({size(x, 3), heads * head_size}, -1, 1);
    Tensor* product = add(network_->addMatrixMultiply(*rows, false, *weights, false));
    operands.push_back(chance(2) ? product : elementwise(product, constant({heads * head_size}, -1, 1), "sum"));
  }
  Attributes fields;
  fields.set("namespace", std::string("torchtrt"));
  fields.set("type", std::string("Attention"));
  fields.set("version", std::string("1"));
  fields.set("scale", 0.5);
  fields.set("transpose_k", true);
  fields.set("heads", heads);
  fields.set("head_size", head_size);
  fields.set("value_size", head_size);
  for (const char* channel : {"q_channel", "k_channel", "v_channel"}) {
    fields.set(channel, int64_t{0});
  }
  fields.set("sequence_first", false);
  return add(network_->addLayer(LayerType::kPLUGIN_V2, operands, fields));
}

Tensor* Generator::transposedProduct(Tensor* x) {
  if (x->rank() < 3 || !isImage(x)) {
    return nullptr;
  }
  Layer* transpose = network_->addShuffle(*x);
  transpose->setFirstTranspose({0, 1, 3, 2});
  return add(network_->addMatrixMultiply(*x, false, *add(transpose), false));
}

}  // namespace torchtrt::optimization::testing
