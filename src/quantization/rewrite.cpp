#include "quantization/rewrite.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/check.h"
#include "quantization/replacement.h"

namespace torchtrt::quantization {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

namespace {

constexpr int kResidual = 3;  // operand of a float product

// Weights of a product seen as [outputs, inputs]. Outputs of a deconvolution are those of all taps, tap by tap.
struct Matrix {
  const float* values;
  int64_t outputs, inputs;
  int64_t output_stride, input_stride;  // elements
  int64_t outputs_of_tap, tap_stride = 0;

  float at(int64_t output, int64_t input) const {
    return values[output % outputs_of_tap * output_stride + output / outputs_of_tap * tap_stride +
                  input * input_stride];
  }
};

Matrix matrixOf(const Layer& layer) {
  const Weights& weights = *layer.getInput(1)->constant();
  const bool outputs_first =
      layer.getType() == LayerType::kCONVOLUTION || layer.attributes().getBool("transpose_b", false);
  const int64_t first = weights.dims[0];
  const int64_t second = static_cast<int64_t>(weights.count()) / first;
  if (layer.getType() == LayerType::kDECONVOLUTION) {
    const int64_t taps = second / weights.dims[1];
    return {weights.as<float>(), second, first, taps, second, weights.dims[1], 1};
  }
  return outputs_first ? Matrix{weights.as<float>(), first, second, second, 1, first}
                       : Matrix{weights.as<float>(), second, first, 1, second, second};
}

bool isMatrixMultiply(const Layer& layer) {
  return layer.getType() == LayerType::kMATRIX_MULTIPLY;
}

// Of the integer weights. A deconvolution becomes a 1x1 convolution with the outputs of all taps.
std::vector<int64_t> weightDims(const Layer& layer, const Matrix& matrix) {
  if (isMatrixMultiply(layer)) {
    return {matrix.inputs, matrix.outputs};
  }
  std::vector<int64_t> dims = layer.getInput(1)->constant()->dims;
  if (layer.getType() == LayerType::kDECONVOLUTION) {
    dims.assign(dims.size(), 1);
    dims[0] = matrix.outputs;
    dims[1] = matrix.inputs;
  }
  return dims;
}

struct IntegerWeights {
  Weights weights;  // int8: a kernel's dims, or [K, N]
  Weights scales;   // of the sums: input scale * weight scale, one per output
};

IntegerWeights quantizeWeights(const Layer& layer, double input_scale) {
  const Matrix matrix = matrixOf(layer);
  const bool outputs_first = !isMatrixMultiply(layer);
  void* weight_memory = nullptr;
  void* scale_memory = nullptr;
  IntegerWeights result;
  result.weights = Weights::allocate(DType::kInt8, weightDims(layer, matrix), &weight_memory);
  result.scales = Weights::allocate(DType::kFloat32, {matrix.outputs}, &scale_memory);
  auto* steps = static_cast<int8_t*>(weight_memory);
  auto* scales = static_cast<float*>(scale_memory);
  for (int64_t output = 0; output < matrix.outputs; ++output) {
    double magnitude = 0;
    for (int64_t input = 0; input < matrix.inputs; ++input) {
      magnitude = std::max(magnitude, std::abs(static_cast<double>(matrix.at(output, input))));
    }
    const double scale = magnitude == 0 ? 1 : magnitude / 127;
    for (int64_t input = 0; input < matrix.inputs; ++input) {
      const int64_t at = outputs_first ? output * matrix.inputs + input : input * matrix.outputs + output;
      steps[at] = static_cast<int8_t>(std::nearbyint(static_cast<double>(matrix.at(output, input)) / scale));
    }
    scales[output] = static_cast<float>(input_scale * scale);
  }
  return result;
}

class IntegerProducts {
 public:
  IntegerProducts(const Network& network, const std::set<int64_t>& layers, const StepsOfTensors& steps)
      : network_(network.clone()), layers_(layers), steps_(steps) {}

  std::unique_ptr<Network> run() {
    // Before any edit: afterwards the readers are others.
    for (const Layer* layer : network_->layers()) {
      if (isChosen(layer) && readsResidualInSteps(*layer)) {
        residual_readers_.insert(layer->id());
      }
    }
    for (Layer* layer : network_->layers()) {
      if (isChosen(layer)) {
        rewrite(*layer);
      }
    }
    return std::move(network_);
  }

 private:
  struct Quantized {
    Tensor* tensor;
    Steps steps;
  };

  bool isChosen(const Layer* layer) const {
    return layer != nullptr && layers_.count(layer->id()) != 0;
  }

  // Its float32 form would be computed for nothing else.
  bool readsResidualInSteps(const Layer& layer) const {
    const Tensor* residual = layer.getInput(kResidual);
    return residual != nullptr && isChosen(residual->producer()) && !residual->isNetworkOutput() &&
           steps_.count(residual->id()) != 0 &&
           std::all_of(residual->uses().begin(), residual->uses().end(), [&](const Tensor::Use& use) {
             return isChosen(use.layer) && (use.index == 0 || use.index == kResidual);
           });
  }

  // `wanted_by` stands behind whatever makes the tensor.
  const Quantized& quantized(Tensor& tensor, Layer& wanted_by) {
    // The id of the tensor that the given network has in this one's place.
    const auto origin = origins_.find(tensor.id());
    const Steps& steps = steps_.at(origin == origins_.end() ? tensor.id() : origin->second);
    const auto [place, is_new] = quantized_.try_emplace(tensor.id());
    if (is_new) {
      Attributes attributes;
      attributes.set("to", steps.to);
      attributes.set("scale", steps.scale);
      attributes.set("zero_point", steps.zero_point);
      attributes.set("low", steps.low);
      attributes.set("high", steps.high);
      Layer* layer = network_->addLayer(LayerType::kQUANTIZE, {&tensor}, std::move(attributes), &wanted_by);
      layer->setLocation(wanted_by.location());
      layer->setName(tensor.getName() + "_steps");
      layer->getOutput(0)->setName(tensor.getName() + "_steps");
      place->second = {layer->getOutput(0), steps};
    }
    return place->second;
  }

  void rewrite(Layer& layer) {
    const Quantized input = quantized(*layer.getInput(0), layer);
    const IntegerWeights weights = quantizeWeights(layer, input.steps.scale);
    Attributes attributes = layer.attributes();
    const bool is_deconvolution = layer.getType() == LayerType::kDECONVOLUTION;
    if (is_deconvolution) {
      for (const char* of_windows : {"stride", "dilation", "pre_padding", "post_padding", "output_padding"}) {
        attributes.erase(of_windows);
      }
    }
    for (const char* of_floats : {"transpose_a", "transpose_b", "tf32"}) {
      attributes.erase(of_floats);
    }
    attributes.set("zero_point", input.steps.zero_point);
    attributes.set("to", DType::kFloat32);
    Tensor* residual = layer.getInput(kResidual);
    if (residual_readers_.count(layer.id()) != 0) {
      const Quantized quantized_residual = quantized(*residual, layer);
      residual = quantized_residual.tensor;
      attributes.set("residual_scale", quantized_residual.steps.scale);
      attributes.set("residual_zero_point", quantized_residual.steps.zero_point);
    }
    std::vector<Tensor*> inputs = {input.tensor, addConstantFor(*network_, weights.weights, layer, "_weights"),
                                   addConstantFor(*network_, weights.scales, layer, "_scales"),
                                   is_deconvolution ? biasOfTaps(layer) : layer.getInput(2)};
    if (residual != nullptr) {
      inputs.push_back(residual);
    } else if (inputs.back() == nullptr) {
      inputs.pop_back();
    }
    Layer* made = network_->addLayer(
        isMatrixMultiply(layer) ? LayerType::kQUANTIZED_MATRIX_MULTIPLY : LayerType::kQUANTIZED_CONVOLUTION, inputs,
        std::move(attributes), &layer);
    if (is_deconvolution) {
      made = withBoxes(*made, layer);
    }
    origins_[made->getOutput(0)->id()] = layer.getOutput(0)->id();
    Layer* bias = is_deconvolution && layer.getInput(2) != nullptr ? layer.getInput(2)->producer() : nullptr;
    takePlace(*network_, layer, *made);
    if (bias != nullptr && bias->getOutput(0)->uses().empty() && !bias->getOutput(0)->isNetworkOutput()) {
      network_->removeLayer(*bias);
    }
  }

  // The constant bias of a deconvolution, once for each tap.
  Tensor* biasOfTaps(Layer& layer) {
    const Tensor* bias = layer.getInput(2);
    if (bias == nullptr) {
      return nullptr;
    }
    const int64_t outputs = static_cast<int64_t>(bias->constant()->count());
    const int64_t all = matrixOf(layer).outputs;
    void* memory = nullptr;
    const Weights repeated = Weights::allocate(DType::kFloat32, {all}, &memory);
    for (int64_t i = 0; i < all; ++i) {
      static_cast<float*>(memory)[i] = bias->constant()->as<float>()[i % outputs];
    }
    return addConstantFor(*network_, repeated, layer, "_bias");
  }

  // Moves the outputs of the taps, [N, tap, K, place...], to the boxes: [N, K, place and tap...].
  Layer* withBoxes(Layer& taps, Layer& layer) {
    const std::string name = layer.getOutput(0)->getName() + "_taps";
    taps.setLocation(layer.location());
    taps.setName(name);
    taps.getOutput(0)->setName(name);
    const std::vector<int64_t>& filter = layer.getInput(1)->constant()->dims;
    const Dims& input = layer.getInput(0)->getDimensions();
    const auto rank = static_cast<int64_t>(filter.size()) - 2;
    std::vector<Dim> apart = {input[0]};
    std::vector<int64_t> order = {0, rank + 1};
    for (int64_t i = 0; i < rank; ++i) {
      apart.emplace_back(filter[static_cast<size_t>(i) + 2]);
      order.insert(order.end(), {rank + 2 + i, 1 + i});
    }
    apart.emplace_back(filter[1]);
    for (int64_t i = 0; i < rank; ++i) {
      apart.push_back(input[static_cast<int>(i) + 2]);
    }
    Layer* turned = shuffled(*taps.getOutput(0), Dims(apart), order, layer);
    return shuffled(*turned->getOutput(0), layer.getOutput(0)->getDimensions(), {}, layer);
  }

  Layer* shuffled(Tensor& tensor, const Dims& dims, const std::vector<int64_t>& order, Layer& before) {
    Attributes attributes;
    attributes.set("first_permutation", std::vector<int64_t>());
    attributes.set("reshape_dims", dims);
    attributes.set("second_permutation", order);
    Layer* layer = network_->addLayer(LayerType::kSHUFFLE, {&tensor}, std::move(attributes), &before);
    layer->setLocation(before.location());
    return layer;
  }

  std::unique_ptr<Network> network_;
  const std::set<int64_t>& layers_;
  const StepsOfTensors& steps_;
  std::set<int64_t> residual_readers_;      // ids of layers
  std::map<int64_t, int64_t> origins_;      // by a made tensor's id that of the tensor it took the place of
  std::map<int64_t, Quantized> quantized_;  // by a tensor's id
};

}  // namespace

std::unique_ptr<Network> withIntegerProducts(const Network& network, const std::set<int64_t>& layers,
                                             const StepsOfTensors& steps) {
  return IntegerProducts(network, layers, steps).run();
}

}  // namespace torchtrt::quantization
