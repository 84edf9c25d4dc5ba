#include "support/random_layers.h"

namespace torchtrt::test {

using network::Layer;
using network::LayerType;
using network::Tensor;
using network::Weights;

// Values in steps of 1/16, exact in every floating dtype.
Tensor* RandomLayers::constant(const std::vector<int64_t>& dims, double low, double high) {
  void* data = nullptr;
  const Weights weights = Weights::allocate(DType::kFloat32, dims, &data);
  for (size_t i = 0; i < weights.count(); ++i) {
    static_cast<float*>(data)[i] =
        static_cast<float>(pick(static_cast<int64_t>(low * 16), static_cast<int64_t>(high * 16))) / 16;
  }
  return network_->addConstant(weights)->getOutput(0);
}

Layer* RandomLayers::convolution(Tensor& x) {
  if (!isImage(x) || size(x, 1) < 1 || size(x, 2) < 3 || size(x, 3) < 3) {
    return nullptr;
  }
  const int64_t channels = size(x, 1);
  const int64_t groups = chance(3) ? channels : 1;
  const int64_t outputs = groups * pick(1, 3);
  const int64_t window = word({"1", "3"}) == "1" ? 1 : 3;
  Tensor* kernel = constant({outputs, channels / groups, window, window}, -0.5, 0.5);
  Tensor* bias = chance(2) ? constant({outputs}, -1, 1) : nullptr;
  Layer* layer = network_->addLayer(LayerType::kCONVOLUTION, {&x, kernel, bias});
  layer->setNbGroups(groups);
  layer->setStrideNd({pick(1, 2), pick(1, 2)});
  layer->setPaddingNd({window / 2, pick(0, window / 2)});
  return layer;
}

Layer* RandomLayers::deconvolution(Tensor& x) {
  if (!isImage(x) || !isSmall(x) || size(x, 1) < 1) {
    return nullptr;
  }
  Tensor* kernel = constant({size(x, 1), pick(1, 3), 2, 2}, -0.5, 0.5);
  Layer* layer = network_->addLayer(LayerType::kDECONVOLUTION, {&x, kernel});
  layer->setStrideNd({2, pick(1, 2)});
  return layer;
}

Layer* RandomLayers::pooling(Tensor& x) {
  if (!isImage(x) || size(x, 2) < 2 || size(x, 3) < 2) {
    return nullptr;
  }
  Layer* layer = network_->addPoolingNd(x, word({"max", "average"}), {2, 2});
  layer->setPaddingNd({pick(0, 1), pick(0, 1)});
  layer->setAttribute("ceil_mode", chance(2));
  layer->setAttribute("count_include_pad", chance(2));
  return layer;
}

Layer* RandomLayers::adaptivePooling(Tensor& x) {
  if (!isImage(x) || size(x, 2) < 1 || size(x, 3) < 1) {
    return nullptr;
  }
  Attributes attributes;
  attributes.set("op", word({"max", "average"}));
  attributes.set("output_size", Dims{pick(1, 3), pick(1, 3)});
  return network_->addLayer(LayerType::kADAPTIVE_POOLING, {&x}, std::move(attributes));
}

Layer* RandomLayers::activation(Tensor& x) {
  const std::string op = word({"relu", "sigmoid", "tanh", "clip", "leaky_relu", "elu", "gelu_erf", "gelu_tanh", "silu",
                               "hard_swish", "hard_sigmoid", "softsign", "mish"});
  if (op == "clip") {
    return network_->addActivation(x, op, 0, 6);
  }
  return op == "hard_sigmoid" ? network_->addActivation(x, op, 1.0 / 6, 0.5) : network_->addActivation(x, op, 0.125, 0);
}

Layer* RandomLayers::unary(Tensor& x) {
  return network_->addUnary(x, word({"abs", "neg", "sin", "cos", "erf", "atan", "square"}));
}

Layer* RandomLayers::elementwise(Tensor& x) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    Tensor& other = *pool_[index(pool_.size())];
    if (other.getDimensions() == x.getDimensions()) {
      return network_->addElementWise(x, other, word({"sum", "sub", "prod", "max", "min"}));
    }
  }
  return nullptr;
}

// Per channel or by one number: what optimizations fold.
Layer* RandomLayers::scaleOrShift(Tensor& x) {
  std::vector<int64_t> dims;
  if (isImage(x) && chance(2)) {
    dims = {size(x, 1), 1, 1};
  }
  Tensor* operand = constant(dims, -2, 2);
  const std::string op = word({"sum", "sub", "prod"});
  return chance(4) ? network_->addElementWise(*operand, x, op) : network_->addElementWise(x, *operand, op);
}

Layer* RandomLayers::matrixMultiply(Tensor& x) {
  const int64_t inner = size(x, x.rank() - 1);
  if (x.rank() < 2 || inner < 1 || inner > 64) {
    return nullptr;
  }
  const int64_t columns = pick(1, 6);
  const bool transpose = chance(2);
  Tensor* matrix =
      constant(transpose ? std::vector<int64_t>{columns, inner} : std::vector<int64_t>{inner, columns}, -0.5, 0.5);
  return network_->addMatrixMultiply(x, false, *matrix, transpose);
}

Layer* RandomLayers::softMax(Tensor& x) {
  return network_->addSoftMax(x, pick(0, x.rank() - 1), chance(4));
}

Layer* RandomLayers::reduce(Tensor& x) {
  if (x.rank() < 2) {
    return nullptr;
  }
  return network_->addReduce(x, word({"sum", "max", "min", "avg", "norm2"}), {pick(1, x.rank() - 1)}, chance(2));
}

Layer* RandomLayers::permute(Tensor& x) {
  std::vector<int64_t> permutation;
  for (int i = 0; i < x.rank(); ++i) {
    permutation.insert(permutation.begin() + pick(0, i), i);
  }
  Layer* layer = network_->addShuffle(x);
  layer->setFirstTranspose(permutation);
  return layer;
}

Layer* RandomLayers::flatten(Tensor& x) {
  if (x.rank() < 2) {
    return nullptr;
  }
  Layer* layer = network_->addShuffle(x);
  layer->setReshapeDimensions({x.getDimensions()[0], -1});
  return layer;
}

Layer* RandomLayers::slice(Tensor& x) {
  std::vector<Dim> start;
  std::vector<Dim> sizes;
  std::vector<int64_t> stride;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t dim = size(x, i);
    const bool cut = dim > 1 && chance(2);
    const int64_t from = cut ? pick(0, dim - 1) : 0;
    start.emplace_back(from);
    sizes.push_back(cut ? Dim(pick(1, dim - from)) : x.getDimensions()[i]);
    stride.push_back(1);
  }
  return network_->addSlice(x, Dims(start), Dims(sizes), stride);
}

Layer* RandomLayers::concatenate(Tensor& x) {
  return isSmall(x) ? network_->addConcatenation({&x, &x}, pick(0, x.rank() - 1)) : nullptr;
}

Layer* RandomLayers::gather(Tensor& x) {
  const int axis = static_cast<int>(pick(0, x.rank() - 1));
  if (size(x, axis) < 1) {
    return nullptr;
  }
  std::vector<int64_t> indices = {pick(0, size(x, axis) - 1), pick(-size(x, axis), -1)};
  Tensor* tensor = network_->addConstant(Weights::copyOf(DType::kInt64, {2}, indices.data()))->getOutput(0);
  return network_->addGather(x, *tensor, axis);
}

Layer* RandomLayers::select(Tensor& x) {
  Tensor* threshold = constant({}, -1, 1);
  Tensor* condition = network_->addElementWise(x, *threshold, "less")->getOutput(0);
  return network_->addSelect(*condition, x, *threshold);
}

Layer* RandomLayers::castAndBack(Tensor& x) {
  Tensor* wide = network_->addCast(x, DType::kFloat64)->getOutput(0);
  return network_->addCast(*wide, DType::kFloat32);
}

Layer* RandomLayers::batchNormalization(Tensor& x) {
  if (!isImage(x) || size(x, 1) < 1) {
    return nullptr;
  }
  const std::vector<int64_t> channels = {size(x, 1)};
  Tensor* scale = chance(4) ? nullptr : constant(channels, -2, 2);
  Tensor* bias = chance(4) ? nullptr : constant(channels, -1, 1);
  Tensor* mean = constant(channels, -1, 1);
  Tensor* variance = constant(channels, 0.5, 2);
  return normalize("batch", {&x, scale, bias, mean, variance});
}

Layer* RandomLayers::normalization(Tensor& x) {
  const std::string mode = word({"layer", "rms", "instance", "group"});
  const bool over_last = mode == "layer" || mode == "rms";
  if (!over_last && !isImage(x)) {
    return nullptr;
  }
  const int64_t parameters = size(x, over_last ? x.rank() - 1 : 1);
  return parameters < 1 ? nullptr : normalize(mode, {&x, constant({parameters}, -2, 2)});
}

Layer* RandomLayers::normalize(const std::string& mode, const std::vector<Tensor*>& operands) {
  Attributes attributes;
  attributes.set("mode", mode);
  attributes.set("eps", 0.0625);
  return network_->addLayer(LayerType::kNORMALIZATION, operands, std::move(attributes));
}

Layer* RandomLayers::resize(Tensor& x) {
  if (!isImage(x) || !isSmall(x) || size(x, 2) < 1 || size(x, 3) < 1) {
    return nullptr;
  }
  Attributes attributes;
  attributes.set("mode", word({"nearest", "linear"}));
  attributes.set("size", Dims{pick(2, 8), pick(2, 8)});
  return network_->addLayer(LayerType::kRESIZE, {&x}, std::move(attributes));
}

Layer* RandomLayers::padding(Tensor& x) {
  if (!isSmall(x)) {
    return nullptr;
  }
  std::vector<Dim> pre(static_cast<size_t>(x.rank()));
  std::vector<Dim> post(static_cast<size_t>(x.rank()));
  post.back() = pick(0, 2);
  pre.back() = pick(0, 2);
  Attributes attributes;
  attributes.set("pre", Dims(pre));
  attributes.set("post", Dims(post));
  attributes.set("value", 0.5);
  return network_->addLayer(LayerType::kPADDING, {&x}, std::move(attributes));
}

Layer* RandomLayers::topK(Tensor& x) {
  const int64_t last = size(x, x.rank() - 1);
  return last < 1 ? nullptr : network_->addTopK(x, pick(1, last), x.rank() - 1, chance(2));
}

Layer* RandomLayers::expand(Tensor& x) {
  if (!isSmall(x) || x.rank() > 4) {
    return nullptr;
  }
  std::vector<Dim> dims = x.getDimensions().vec();
  dims.insert(dims.begin(), pick(1, 2));
  Attributes attributes;
  attributes.set("dims", Dims(std::move(dims)));
  return network_->addLayer(LayerType::kEXPAND, {&x}, std::move(attributes));
}

Layer* RandomLayers::preluOf(Tensor& x) {
  return network_->addLayer(LayerType::kPARAMETRIC_RELU, {&x, constant({}, 0, 0.5)});
}

Layer* RandomLayers::cumulate(Tensor& x) {
  Attributes attributes;
  attributes.set("op", word({"sum", "max", "min"}));
  attributes.set("axis", pick(0, x.rank() - 1));
  return network_->addLayer(LayerType::kCUMULATIVE, {&x}, std::move(attributes));
}

Layer* RandomLayers::scatter(Tensor& x) {
  const int axis = static_cast<int>(pick(0, x.rank() - 1));
  if (size(x, axis) < 1) {
    return nullptr;
  }
  const std::vector<int64_t> indices = {pick(-size(x, axis), size(x, axis) - 1)};
  Tensor* places = network_->addConstant(Weights::copyOf(DType::kInt64, {1}, indices.data()))->getOutput(0);
  std::vector<Dim> start(static_cast<size_t>(x.rank()));
  Dims dims = x.getDimensions();
  dims[axis] = 1;
  const std::vector<int64_t> stride(static_cast<size_t>(x.rank()), 1);
  Tensor* updates = network_->addSlice(x, Dims(start), dims, stride)->getOutput(0);
  Attributes attributes;
  attributes.set("axis", static_cast<int64_t>(axis));
  attributes.set("reduce", word({"none", "sum", "max"}));
  return network_->addLayer(LayerType::kSCATTER, {&x, places, updates}, std::move(attributes));
}

Layer* RandomLayers::gridSample(Tensor& x) {
  const auto batch = x.getDimensions()[0].asConstant();
  if (!isImage(x) || !isSmall(x) || !batch || size(x, 2) < 1 || size(x, 3) < 1) {
    return nullptr;
  }
  Attributes attributes;
  attributes.set("mode", word({"nearest", "linear", "cubic"}));
  attributes.set("padding", word({"zeros", "border", "reflection"}));
  Tensor* grid = constant({*batch, pick(1, 3), pick(1, 4), 2}, -1, 1);
  return network_->addLayer(LayerType::kGRID_SAMPLE, {&x, grid}, std::move(attributes));
}

// Rows [N,H] as the state of one step, whose input is constant.
Layer* RandomLayers::recur(Tensor& x) {
  const auto batch = x.rank() == 2 ? x.getDimensions()[0].asConstant() : std::nullopt;
  const int64_t hidden = size(x, x.rank() - 1);
  if (!batch || hidden < 1 || hidden > 64) {
    return nullptr;
  }
  const std::string op = word({"lstm", "gru", "rnn_tanh"});
  const int64_t gates = hidden * (op == "lstm" ? 4 : op == "gru" ? 3 : 1);
  std::vector<Tensor*> operands = {constant({2, *batch, gates}, -1, 1), constant({gates, hidden}, -0.5, 0.5),
                                   constant({gates}, -1, 1), &x};
  if (op == "lstm") {
    operands.push_back(&x);
  }
  Attributes attributes;
  attributes.set("op", op);
  attributes.set("reverse", chance(2));
  return network_->addLayer(LayerType::kRECURRENT, operands, std::move(attributes));
}

Layer* RandomLayers::addFill(Tensor& x) {
  Attributes attributes;
  attributes.set("op", "constant");
  attributes.set("dims", x.getDimensions());
  attributes.set("dtype", DType::kFloat32);
  attributes.set("value", 0.25);
  Tensor* fill = network_->addLayer(LayerType::kFILL, {}, std::move(attributes))->getOutput(0);
  return network_->addElementWise(x, *fill, "sum");
}

}  // namespace torchtrt::test
