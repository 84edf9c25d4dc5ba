#include "support/random_network.h"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <string>

namespace torchtrt::test {
namespace {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

class Maker {
 public:
  Maker(uint64_t seed, const RandomNetworkOptions& options)
      : random_(seed), network_(std::make_unique<Network>()), layers_(options.layers) {
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
        [this](Tensor&) { return quantized(); },
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

  static bool isImage(const Tensor& x) {
    return x.rank() == 4;
  }
  static bool isSmall(const Tensor& x) {
    int64_t count = 1;
    for (const Dim& dim : x.getDimensions()) {
      count *= dim.asConstant().value_or(4);
    }
    return count <= 4096;
  }
  static int64_t size(const Tensor& x, int axis) {
    return x.getDimensions()[axis].asConstant().value_or(0);
  }

  // Values in steps of 1/16, exact in every floating dtype.
  Tensor* constant(const std::vector<int64_t>& dims, double low, double high) {
    void* data = nullptr;
    const Weights weights = Weights::allocate(DType::kFloat32, dims, &data);
    for (size_t i = 0; i < weights.count(); ++i) {
      static_cast<float*>(data)[i] =
          static_cast<float>(pick(static_cast<int64_t>(low * 16), static_cast<int64_t>(high * 16))) / 16;
    }
    return network_->addConstant(weights)->getOutput(0);
  }

  Layer* convolution(Tensor& x) {
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

  Layer* deconvolution(Tensor& x) {
    if (!isImage(x) || !isSmall(x) || size(x, 1) < 1) {
      return nullptr;
    }
    Tensor* kernel = constant({size(x, 1), pick(1, 3), 2, 2}, -0.5, 0.5);
    Layer* layer = network_->addLayer(LayerType::kDECONVOLUTION, {&x, kernel});
    layer->setStrideNd({2, pick(1, 2)});
    return layer;
  }

  Layer* pooling(Tensor& x) {
    if (!isImage(x) || size(x, 2) < 2 || size(x, 3) < 2) {
      return nullptr;
    }
    Layer* layer = network_->addPoolingNd(x, word({"max", "average"}), {2, 2});
    layer->setPaddingNd({pick(0, 1), pick(0, 1)});
    layer->setAttribute("ceil_mode", chance(2));
    layer->setAttribute("count_include_pad", chance(2));
    return layer;
  }

  Layer* adaptivePooling(Tensor& x) {
    if (!isImage(x) || size(x, 2) < 1 || size(x, 3) < 1) {
      return nullptr;
    }
    Attributes attributes;
    attributes.set("op", word({"max", "average"}));
    attributes.set("output_size", Dims{pick(1, 3), pick(1, 3)});
    return network_->addLayer(LayerType::kADAPTIVE_POOLING, {&x}, std::move(attributes));
  }

  Layer* activation(Tensor& x) {
    const std::string op = word({"relu", "sigmoid", "tanh", "clip", "leaky_relu", "elu", "gelu_erf", "gelu_tanh",
                                 "silu", "hard_swish", "hard_sigmoid", "softsign", "mish"});
    if (op == "clip") {
      return network_->addActivation(x, op, 0, 6);
    }
    return op == "hard_sigmoid" ? network_->addActivation(x, op, 1.0 / 6, 0.5)
                                : network_->addActivation(x, op, 0.125, 0);
  }

  Layer* unary(Tensor& x) {
    return network_->addUnary(x, word({"abs", "neg", "sin", "cos", "erf", "atan", "square"}));
  }

  Layer* elementwise(Tensor& x) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      Tensor& other = *pool_[index(pool_.size())];
      if (other.getDimensions() == x.getDimensions()) {
        return network_->addElementWise(x, other, word({"sum", "sub", "prod", "max", "min"}));
      }
    }
    return nullptr;
  }

  // Per channel or by one number: what optimizations fold.
  Layer* scaleOrShift(Tensor& x) {
    std::vector<int64_t> dims;
    if (isImage(x) && chance(2)) {
      dims = {size(x, 1), 1, 1};
    }
    Tensor* operand = constant(dims, -2, 2);
    const std::string op = word({"sum", "sub", "prod"});
    return chance(4) ? network_->addElementWise(*operand, x, op) : network_->addElementWise(x, *operand, op);
  }

  Layer* matrixMultiply(Tensor& x) {
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

  Layer* softMax(Tensor& x) {
    return network_->addSoftMax(x, pick(0, x.rank() - 1), chance(4));
  }

  Layer* reduce(Tensor& x) {
    if (x.rank() < 2) {
      return nullptr;
    }
    return network_->addReduce(x, word({"sum", "max", "min", "avg", "norm2"}), {pick(1, x.rank() - 1)}, chance(2));
  }

  Layer* permute(Tensor& x) {
    std::vector<int64_t> permutation;
    for (int i = 0; i < x.rank(); ++i) {
      permutation.insert(permutation.begin() + pick(0, i), i);
    }
    Layer* layer = network_->addShuffle(x);
    layer->setFirstTranspose(permutation);
    return layer;
  }

  Layer* flatten(Tensor& x) {
    if (x.rank() < 2) {
      return nullptr;
    }
    Layer* layer = network_->addShuffle(x);
    layer->setReshapeDimensions({x.getDimensions()[0], -1});
    return layer;
  }

  Layer* slice(Tensor& x) {
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

  Layer* concatenate(Tensor& x) {
    return isSmall(x) ? network_->addConcatenation({&x, &x}, pick(0, x.rank() - 1)) : nullptr;
  }

  Layer* gather(Tensor& x) {
    const int axis = static_cast<int>(pick(0, x.rank() - 1));
    if (size(x, axis) < 1) {
      return nullptr;
    }
    std::vector<int64_t> indices = {pick(0, size(x, axis) - 1), pick(-size(x, axis), -1)};
    Tensor* tensor = network_->addConstant(Weights::copyOf(DType::kInt64, {2}, indices.data()))->getOutput(0);
    return network_->addGather(x, *tensor, axis);
  }

  Layer* select(Tensor& x) {
    Tensor* threshold = constant({}, -1, 1);
    Tensor* condition = network_->addElementWise(x, *threshold, "less")->getOutput(0);
    return network_->addSelect(*condition, x, *threshold);
  }

  Layer* castAndBack(Tensor& x) {
    Tensor* wide = network_->addCast(x, DType::kFloat64)->getOutput(0);
    return network_->addCast(*wide, DType::kFloat32);
  }

  Layer* batchNormalization(Tensor& x) {
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

  Layer* normalization(Tensor& x) {
    const std::string mode = word({"layer", "rms", "instance", "group"});
    const bool over_last = mode == "layer" || mode == "rms";
    if (!over_last && !isImage(x)) {
      return nullptr;
    }
    const int64_t parameters = size(x, over_last ? x.rank() - 1 : 1);
    return parameters < 1 ? nullptr : normalize(mode, {&x, constant({parameters}, -2, 2)});
  }

  Layer* normalize(const std::string& mode, const std::vector<Tensor*>& operands) {
    Attributes attributes;
    attributes.set("mode", mode);
    attributes.set("eps", 0.0625);
    return network_->addLayer(LayerType::kNORMALIZATION, operands, std::move(attributes));
  }

  Layer* resize(Tensor& x) {
    if (!isImage(x) || !isSmall(x) || size(x, 2) < 1 || size(x, 3) < 1) {
      return nullptr;
    }
    Attributes attributes;
    attributes.set("mode", word({"nearest", "linear"}));
    attributes.set("size", Dims{pick(2, 8), pick(2, 8)});
    return network_->addLayer(LayerType::kRESIZE, {&x}, std::move(attributes));
  }

  Layer* padding(Tensor& x) {
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

  Layer* topK(Tensor& x) {
    const int64_t last = size(x, x.rank() - 1);
    return last < 1 ? nullptr : network_->addTopK(x, pick(1, last), x.rank() - 1, chance(2));
  }

  Layer* expand(Tensor& x) {
    if (!isSmall(x) || x.rank() > 4) {
      return nullptr;
    }
    std::vector<Dim> dims = x.getDimensions().vec();
    dims.insert(dims.begin(), pick(1, 2));
    Attributes attributes;
    attributes.set("dims", Dims(std::move(dims)));
    return network_->addLayer(LayerType::kEXPAND, {&x}, std::move(attributes));
  }

  Layer* preluOf(Tensor& x) {
    return network_->addLayer(LayerType::kPARAMETRIC_RELU, {&x, constant({}, 0, 0.5)});
  }

  Layer* cumulate(Tensor& x) {
    Attributes attributes;
    attributes.set("op", word({"sum", "max", "min"}));
    attributes.set("axis", pick(0, x.rank() - 1));
    return network_->addLayer(LayerType::kCUMULATIVE, {&x}, std::move(attributes));
  }

  Layer* scatter(Tensor& x) {
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

  Layer* gridSample(Tensor& x) {
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
  Layer* recur(Tensor& x) {
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

  Tensor* stepConstant(const std::vector<int64_t>& dims) {
    void* data = nullptr;
    const Weights weights = Weights::allocate(DType::kInt8, dims, &data);
    for (size_t i = 0; i < weights.count(); ++i) {
      static_cast<int8_t*>(data)[i] = static_cast<int8_t>(pick(-127, 127));
    }
    return network_->addConstant(weights)->getOutput(0);
  }

  Layer* dequantize(Tensor& steps, double scale, int64_t zero_point) {
    Attributes attributes;
    attributes.set("scale", scale);
    attributes.set("zero_point", zero_point);
    return network_->addLayer(LayerType::kDEQUANTIZE, {&steps}, std::move(attributes));
  }

  // A product of the steps of a network input: not of any tensor, since a value near the middle of two steps may fall
  // to either of them wherever float32 sums are taken in another order. Scales are powers of two, all else is exact.
  Layer* quantized() {
    Tensor& x = *pool_[index(2)];
    const DType dtype = chance(2) ? DType::kUInt8 : DType::kInt8;
    const int64_t zero_point = dtype == DType::kUInt8 ? pick(100, 140) : pick(-10, 10);
    const int64_t low = dtype == DType::kUInt8 ? 0 : -127;
    Attributes attributes;
    attributes.set("to", dtype);
    attributes.set("scale", 0.0625);
    attributes.set("zero_point", zero_point);
    attributes.set("low", low);
    attributes.set("high", low + pick(200, 254));
    Tensor* steps = network_->addLayer(LayerType::kQUANTIZE, {&x}, std::move(attributes))->getOutput(0);
    return chance(4) ? dequantize(*steps, 0.0625, zero_point) : stepProduct(*steps, zero_point);
  }

  Layer* stepProduct(Tensor& x, int64_t zero_point) {
    const int64_t channels = size(x, 1);
    const int64_t outputs = channels * pick(1, 2);
    const bool convolves = isImage(x);
    Tensor* kernel = convolves ? stepConstant({outputs, chance(2) ? channels : 1, pick(1, 3), pick(1, 3)})
                               : stepConstant({channels, outputs});
    std::vector<Tensor*> operands = {&x, kernel, constant({outputs}, 0.0625, 0.0625),
                                     chance(2) ? constant({outputs}, -1, 1) : nullptr};
    const bool makes_steps = chance(2);
    Attributes attributes;
    attributes.set("zero_point", zero_point);
    attributes.set("to", makes_steps ? DType::kInt8 : DType::kFloat32);
    attributes.set("output_scale", 8.0);
    attributes.set("output_zero_point", int64_t{-3});
    attributes.set("low", int64_t{-127});
    attributes.set("high", int64_t{127});
    attributes.set("activation", word({"", "relu"}));
    if (convolves) {
      attributes.set("groups", channels / size(*kernel, 1));
      attributes.set("pre_padding", std::vector<int64_t>{pick(0, 2), pick(0, 2)});
    }
    const LayerType type = convolves ? LayerType::kQUANTIZED_CONVOLUTION : LayerType::kQUANTIZED_MATRIX_MULTIPLY;
    Layer* product = network_->addLayer(type, operands, std::move(attributes));
    // As small as the other values of the network.
    Tensor& y = makes_steps ? *dequantize(*product->getOutput(0), 0.0625, -3)->getOutput(0) : *product->getOutput(0);
    return makes_steps ? y.producer() : network_->addElementWise(y, *constant({}, 0.015625, 0.015625), "prod");
  }

  Layer* addFill(Tensor& x) {
    Attributes attributes;
    attributes.set("op", "constant");
    attributes.set("dims", x.getDimensions());
    attributes.set("dtype", DType::kFloat32);
    attributes.set("value", 0.25);
    Tensor* fill = network_->addLayer(LayerType::kFILL, {}, std::move(attributes))->getOutput(0);
    return network_->addElementWise(x, *fill, "sum");
  }

  std::mt19937_64 random_;
  std::unique_ptr<Network> network_;
  std::vector<Tensor*> pool_;  // float32 tensors that further layers may take
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
