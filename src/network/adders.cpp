// TensorRT's names for adding layers.
#include "torchtrt/network.h"

namespace torchtrt::network {

Layer* Network::addConstant(const Weights& weights, Layer* before) {
  Layer* layer = addLayer(LayerType::kCONSTANT, {}, {}, before);
  layer->weights_ = weights;
  return layer;
}

Layer* Network::addConvolutionNd(Tensor& input, const Weights& kernel, const Weights* bias) {
  Tensor* kernel_tensor = addConstant(kernel)->getOutput(0);
  Tensor* bias_tensor = bias == nullptr ? nullptr : addConstant(*bias)->getOutput(0);
  return addLayer(LayerType::kCONVOLUTION, {&input, kernel_tensor, bias_tensor});
}

Layer* Network::addDeconvolutionNd(Tensor& input, const Weights& kernel, const Weights* bias) {
  Tensor* kernel_tensor = addConstant(kernel)->getOutput(0);
  Tensor* bias_tensor = bias == nullptr ? nullptr : addConstant(*bias)->getOutput(0);
  return addLayer(LayerType::kDECONVOLUTION, {&input, kernel_tensor, bias_tensor});
}

Layer* Network::addPoolingNd(Tensor& input, const std::string& op, const std::vector<int64_t>& window) {
  Attributes attributes;
  attributes.set("op", op);
  attributes.set("window", window);
  return addLayer(LayerType::kPOOLING, {&input}, std::move(attributes));
}

Layer* Network::addActivation(Tensor& input, const std::string& op, double alpha, double beta) {
  Attributes attributes;
  attributes.set("op", op);
  attributes.set("alpha", alpha);
  attributes.set("beta", beta);
  return addLayer(LayerType::kACTIVATION, {&input}, std::move(attributes));
}

Layer* Network::addUnary(Tensor& input, const std::string& op) {
  Attributes attributes;
  attributes.set("op", op);
  return addLayer(LayerType::kUNARY, {&input}, std::move(attributes));
}

Layer* Network::addElementWise(Tensor& a, Tensor& b, const std::string& op) {
  Attributes attributes;
  attributes.set("op", op);
  return addLayer(LayerType::kELEMENTWISE, {&a, &b}, std::move(attributes));
}

Layer* Network::addMatrixMultiply(Tensor& a, bool transpose_a, Tensor& b, bool transpose_b) {
  Attributes attributes;
  attributes.set("transpose_a", transpose_a);
  attributes.set("transpose_b", transpose_b);
  return addLayer(LayerType::kMATRIX_MULTIPLY, {&a, &b}, std::move(attributes));
}

Layer* Network::addSoftMax(Tensor& input, int64_t axis, bool log) {
  Attributes attributes;
  attributes.set("axis", axis);
  attributes.set("log", log);
  return addLayer(LayerType::kSOFTMAX, {&input}, std::move(attributes));
}

Layer* Network::addReduce(Tensor& input, const std::string& op, const std::vector<int64_t>& axes, bool keep_dims) {
  Attributes attributes;
  attributes.set("op", op);
  attributes.set("axes", axes);
  attributes.set("keep_dims", keep_dims);
  return addLayer(LayerType::kREDUCE, {&input}, std::move(attributes));
}

Layer* Network::addShuffle(Tensor& input) {
  return addLayer(LayerType::kSHUFFLE, {&input});
}

Layer* Network::addSlice(Tensor& input, const Dims& start, const Dims& size, const std::vector<int64_t>& stride) {
  Attributes attributes;
  attributes.set("start", start);
  attributes.set("size", size);
  attributes.set("stride", stride);
  return addLayer(LayerType::kSLICE, {&input}, std::move(attributes));
}

Layer* Network::addConcatenation(const std::vector<Tensor*>& inputs, int64_t axis) {
  Attributes attributes;
  attributes.set("axis", axis);
  return addLayer(LayerType::kCONCATENATION, inputs, std::move(attributes));
}

Layer* Network::addGather(Tensor& data, Tensor& indices, int64_t axis, const std::string& mode) {
  Attributes attributes;
  attributes.set("axis", axis);
  attributes.set("mode", mode);
  return addLayer(LayerType::kGATHER, {&data, &indices}, std::move(attributes));
}

Layer* Network::addSelect(Tensor& condition, Tensor& a, Tensor& b) {
  return addLayer(LayerType::kSELECT, {&condition, &a, &b});
}

Layer* Network::addCast(Tensor& input, DType to) {
  Attributes attributes;
  attributes.set("to", to);
  return addLayer(LayerType::kCAST, {&input}, std::move(attributes));
}

Layer* Network::addIdentity(Tensor& input) {
  return addLayer(LayerType::kIDENTITY, {&input});
}

Layer* Network::addTopK(Tensor& input, const Dim& k, int64_t axis, bool largest, bool sorted) {
  Attributes attributes;
  attributes.set("k", Dims{k});
  attributes.set("axis", axis);
  attributes.set("largest", largest);
  attributes.set("sorted", sorted);
  return addLayer(LayerType::kTOPK, {&input}, std::move(attributes));
}

}  // namespace torchtrt::network
