#include "support/random_layers.h"

namespace torchtrt::test {

using network::Layer;
using network::LayerType;
using network::Tensor;
using network::Weights;

Tensor* RandomLayers::stepConstant(const std::vector<int64_t>& dims) {
  void* data = nullptr;
  const Weights weights = Weights::allocate(DType::kInt8, dims, &data);
  for (size_t i = 0; i < weights.count(); ++i) {
    static_cast<int8_t*>(data)[i] = static_cast<int8_t>(pick(-127, 127));
  }
  return network_->addConstant(weights)->getOutput(0);
}

Layer* RandomLayers::dequantize(Tensor& steps, double scale, int64_t zero_point) {
  Attributes attributes;
  attributes.set("scale", scale);
  attributes.set("zero_point", zero_point);
  return network_->addLayer(LayerType::kDEQUANTIZE, {&steps}, std::move(attributes));
}

// A product of the steps of a network input: not of any tensor, since a value near the middle of two steps may fall
// to either of them wherever float32 sums are taken in another order. Scales are powers of two, all else is exact.
Layer* RandomLayers::quantized() {
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
  const bool gives_values = chance(4) || size(x, 1) == 0;  // a product of no channels has no groups
  return gives_values ? dequantize(*steps, 0.0625, zero_point) : stepProduct(*steps, zero_point);
}

Layer* RandomLayers::stepProduct(Tensor& x, int64_t zero_point) {
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
  // Makes the result as small as the other values of the network.
  Tensor& y = makes_steps ? *dequantize(*product->getOutput(0), 0.0625, -3)->getOutput(0) : *product->getOutput(0);
  return makes_steps ? y.producer() : network_->addElementWise(y, *constant({}, 0.015625, 0.015625), "prod");
}

// Null for a tensor without rows of a known, even length.
Layer* RandomLayers::integerWeights(Tensor& x) {
  if (x.rank() < 2 || x.getType() != DType::kFloat32 || !isSmall(x)) {
    return nullptr;
  }
  const int64_t depth = size(x, x.rank() - 1);
  if (depth == 0 || depth % 2 != 0) {
    return nullptr;
  }
  const int64_t bits = chance(2) ? 4 : 8;
  const int64_t group_size = chance(2) ? depth : 2;
  const int64_t rows = pick(1, 5);
  void* data = nullptr;
  const Weights weights = Weights::allocate(bits == 4 ? DType::kUInt8 : DType::kInt8, {rows, depth * bits / 8}, &data);
  for (size_t i = 0; i < weights.count(); ++i) {
    static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(pick(0, 255));
  }
  const std::vector<int64_t> groups = {rows, depth / group_size};
  Attributes attributes;
  attributes.set("bits", bits);
  attributes.set("group_size", group_size);
  attributes.set("activation", word({"", "relu"}));
  const double scale = bits == 4 ? 0.0625 : 0.00390625;
  return network_->addLayer(
      LayerType::kINTEGER_WEIGHT_MATRIX_MULTIPLY,
      {&x, network_->addConstant(weights)->getOutput(0), constant(groups, -scale, scale),
       chance(2) ? constant(groups, -scale, scale) : nullptr, chance(2) ? constant({rows}, -1, 1) : nullptr},
      std::move(attributes));
}

}  // namespace torchtrt::test
