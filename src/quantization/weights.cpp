#include "quantization/weights.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "kernels/scalar/half.h"
#include "optimization/environment.h"
#include "quantization/accuracy.h"
#include "quantization/group_rounding.h"
#include "quantization/replacement.h"
#include "quantization/runs.h"

namespace torchtrt::quantization {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

namespace {

constexpr int kBias = 2;  // operands of a matrix multiplication
constexpr int kResidual = 3;

struct MatrixShape {
  int64_t depth;
  int64_t columns;
};

MatrixShape shapeOf(const Layer& layer, const Weights& weights) {
  const size_t rank = weights.dims.size();
  const bool transposed = layer.attributes().getBool("transpose_b", false);
  return {weights.dims[rank - (transposed ? 1 : 2)], weights.dims[rank - (transposed ? 2 : 1)]};
}

using kernels::toFloat;

float toFloat(float value) {
  return value;
}

template <typename T>
std::vector<float> rowsAs(const Layer& layer, const Weights& weights) {
  const auto [depth, columns] = shapeOf(layer, weights);
  const bool transposed = layer.attributes().getBool("transpose_b", false);
  const T* values = weights.as<T>();
  std::vector<float> rows;
  rows.reserve(weights.count());
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < depth; ++k) {
      rows.push_back(toFloat(values[transposed ? n * depth + k : k * columns + n]));
    }
  }
  return rows;
}

// The rows of the transposed right operand, one behind the other.
std::vector<float> rowsOf(const Layer& layer, const Weights& weights) {
  switch (weights.dtype) {
    case DType::kFloat16:
      return rowsAs<kernels::Float16>(layer, weights);
    case DType::kBFloat16:
      return rowsAs<kernels::BFloat16>(layer, weights);
    default:
      return rowsAs<float>(layer, weights);
  }
}

std::string text(int64_t number) {
  return std::to_string(number);
}

std::string whyNotForm(const Layer& layer, const Weights& weights) {
  const int64_t batches = static_cast<int64_t>(weights.count());
  const auto [depth, columns] = shapeOf(layer, weights);
  if (batches != depth * columns || static_cast<int>(weights.dims.size()) > layer.getInput(0)->rank()) {
    return "its right operand is a batch of matrices";
  }
  if (layer.attributes().getBool("transpose_a", false)) {
    return "its left operand is transposed";
  }
  const Tensor* bias = layer.getInput(kBias);
  const bool is_vector =
      bias == nullptr || (bias->getDimensions().rank() == 1 && bias->getDimensions()[0] == Dim(columns));
  return is_vector ? ""
                   : "its bias has dims " + bias->getDimensions().toString() + ", integer weights take [" +
                         text(columns) + "]";
}

std::string whyNot(const Layer& layer, const WeightOptions& options) {
  const Weights* weights = layer.getInput(1)->constant();
  if (weights == nullptr) {
    return "its right operand is no constant";
  }
  if (!isFloating(weights->dtype) || weights->dtype == DType::kFloat64) {
    return std::string("it computes in ") + toString(weights->dtype) +
           ", weights of float32, float16 and bfloat16 are rounded";
  }
  if (std::string form = whyNotForm(layer, *weights); !form.empty()) {
    return form;
  }
  if (std::string pin = options.why_not ? options.why_not(layer) : ""; !pin.empty()) {
    return pin;
  }
  if (static_cast<int64_t>(weights->count()) < std::max<int64_t>(options.min_weights, 1)) {
    return "its " + text(static_cast<int64_t>(weights->count())) + " weights are too few to gain from rounding";
  }
  if (const int64_t depth = shapeOf(layer, *weights).depth; depth % options.group_size != 0) {
    return "its depth of " + text(depth) + " is no multiple of the group size, " + text(options.group_size);
  }
  const std::vector<float> rows = rowsOf(layer, *weights);
  const bool are_finite = std::all_of(rows.begin(), rows.end(), [](float value) { return std::isfinite(value); });
  return are_finite ? "" : "its weights are not finite";
}

class IntegerWeights {
 public:
  IntegerWeights(const Network& network, const std::set<int64_t>& layers, const WeightOptions& options)
      : network_(network.clone()), layers_(layers), options_(options) {}

  std::unique_ptr<Network> run() {
    for (Layer* layer : network_->layers()) {
      if (layers_.count(layer->id()) != 0) {
        rewrite(*layer);
      }
    }
    return std::move(network_);
  }

 private:
  void rewrite(Layer& layer) {
    const Weights& weights = *layer.getInput(1)->constant();
    const std::vector<float> rows = rowsOf(layer, weights);
    const RoundedMatrix rounded = roundByGroups(rows, shapeOf(layer, weights).depth, options_.bits, options_.group_size,
                                                options_.has_zero_points);
    Attributes attributes = layer.attributes();
    for (const char* of_floats : {"transpose_a", "transpose_b", "tf32"}) {
      attributes.erase(of_floats);
    }
    attributes.set("bits", options_.bits);
    attributes.set("group_size", options_.group_size);
    std::vector<Tensor*> inputs = {
        layer.getInput(0),
        addConstantFor(*network_, rounded.weights, layer, "_weights"),
        addConstantFor(*network_, rounded.scale, layer, "_scale"),
        options_.has_zero_points ? addConstantFor(*network_, rounded.offset, layer, "_offset") : nullptr,
        layer.getInput(kBias),
        layer.getInput(kResidual)};
    while (inputs.back() == nullptr) {
      inputs.pop_back();
    }
    Layer* made = network_->addLayer(LayerType::kINTEGER_WEIGHT_MATRIX_MULTIPLY, inputs, std::move(attributes), &layer);
    takePlace(*network_, layer, *made);
  }

  std::unique_ptr<Network> network_;
  const std::set<int64_t>& layers_;
  const WeightOptions& options_;
};

}  // namespace

struct WeightRounding::Impl {
  WeightOptions options;
  std::unique_ptr<Network> network;
  std::vector<LayerChoice> choices;                           // of the matrix multiplications, in order of the network
  std::vector<int64_t> ids;                                   // of these layers
  std::shared_ptr<const engine::Engine> collector = nullptr;  // outputs of comparable(), then inputs, which are copies
  std::vector<Sample> samples = {};
};

WeightRounding::WeightRounding(const Network& network, WeightOptions options)
    : impl_(new Impl{std::move(options), optimization::optimized(network), {}, {}}) {
  for (const Layer* layer : impl_->network->layers()) {
    if (layer->getType() == LayerType::kMATRIX_MULTIPLY) {
      impl_->ids.push_back(layer->id());
      impl_->choices.push_back(
          {layer->getName(), layer->info().name, layer->location(), false, whyNot(*layer, impl_->options), -1});
    }
  }
}

WeightRounding::~WeightRounding() = default;

bool WeightRounding::hasCandidates() const {
  return std::any_of(impl_->choices.begin(), impl_->choices.end(),
                     [](const LayerChoice& choice) { return choice.reason.empty(); });
}

void WeightRounding::add(std::span<const engine::TensorView> inputs) {
  if (!impl_->collector) {
    const auto copy = comparable(*impl_->network);
    for (int i = 0; i < copy->getNbInputs(); ++i) {
      copy->markOutput(*copy->getInput(i));
    }
    impl_->collector = loadEngine(*copy);
  }
  Tensors tensors = run(*impl_->collector, inputs);
  const auto outputs = tensors.begin() + impl_->network->getNbOutputs();
  impl_->samples.push_back({{outputs, tensors.end()}, {tensors.begin(), outputs}});
}

Quantized WeightRounding::round() const {
  Quantized result;
  result.layers = impl_->choices;
  std::vector<int64_t> layers;
  for (size_t i = 0; i < result.layers.size(); ++i) {
    if (result.layers[i].reason.empty()) {
      layers.push_back(impl_->ids[i]);
    }
  }
  const auto make = [&](const std::set<int64_t>& chosen) {
    return IntegerWeights(*impl_->network, chosen, impl_->options).run();
  };
  Measured measured{{layers.begin(), layers.end()}, {}, -1};
  if (impl_->options.accuracy_target > 0 && !layers.empty()) {
    if (impl_->samples.empty()) {
      throw CompileError(ErrorCode::kInvalidOption, "an accuracy target needs batches to measure layers with", {},
                         "give batches, or no target");
    }
    measured = measureLayers(layers, impl_->samples, impl_->options.accuracy_target, make, impl_->options.progress);
  }
  addMeasured(measured, impl_->ids, result);
  result.network = make(measured.layers);
  return result;
}

}  // namespace torchtrt::quantization
