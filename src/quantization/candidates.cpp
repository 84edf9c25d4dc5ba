#include "quantization/candidates.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/steps.h"

namespace torchtrt::quantization {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

namespace {

// A group's dot products are too short, or too few, for kernels that multiply four channels by 16 outputs at a time.
constexpr int64_t kLeastChannelsOfGroup = 16;
// Below these numbers, quantizing and reading costs more than is to gain, and errors of rounding weigh the most.
// Measured on AVX2, with quantizing the operand: sums of 16 products 0.72 times as fast as float32, 24 0.92, 27 (a 3x3
// stem) 0.39, 40 1.2; 16 multiplications of each input 0.65, 64 1.06.
constexpr int64_t kLeastProducts = 32;
constexpr int64_t kLeastReuse = 32;

// Elements at the optimum shape.
int64_t elements(const Tensor& tensor) {
  return tensor.getDimensions().numel().evaluate(
      [&](const std::string& symbol) { return tensor.network()->findSymbol(symbol)->opt; });
}

bool areFinite(const Weights& weights) {
  const float* values = weights.as<float>();
  return std::all_of(values, values + weights.count(), [](float value) { return std::isfinite(value); });
}

std::string text(int64_t number) {
  return std::to_string(number);
}

std::string whyNotGroups(const Layer& layer, const Weights& kernel) {
  const int64_t groups = layer.attributes().getInt("groups", 1);
  if (groups == 1) {
    return "";
  }
  if (kernel.dims[1] == 1) {
    return "a depthwise convolution multiplies too little to gain from integers";
  }
  const int64_t smallest = std::min(kernel.dims[1], kernel.dims[0] / groups);
  return smallest >= kLeastChannelsOfGroup
             ? ""
             : "its groups have " + text(smallest) + " channels, too few to gain from integers";
}

std::string whyNotMatrices(const Layer& layer, const Weights& right) {
  if (right.dims.size() != 2) {
    return "its right operand has rank " + text(static_cast<int64_t>(right.dims.size())) +
           ", integer matrix multiplications take 2";
  }
  if (layer.attributes().getBool("transpose_a", false)) {
    return "its left operand is transposed";
  }
  const Tensor* bias = layer.getInput(2);
  if (bias == nullptr) {
    return "";
  }
  const int64_t columns = right.dims[layer.attributes().getBool("transpose_b", false) ? 0 : 1];
  const Dims& dims = bias->getDimensions();
  const bool is_vector = dims.rank() == 1 && dims[0] == Dim(columns);
  return is_vector
             ? ""
             : "its bias has dims " + dims.toString() + ", integer matrix multiplications take [" + text(columns) + "]";
}

// Boxes that lie side by side are the results of one matrix multiplication; others would have to be added up.
std::string whyNotBoxes(const Layer& layer, const Weights& filter) {
  const Attributes& attributes = layer.attributes();
  const auto are = [&](const char* name, int64_t value) {
    const std::vector<int64_t> values = attributes.getInts(name);
    return std::all_of(values.begin(), values.end(), [&](int64_t each) { return each == value; });
  };
  const std::vector<int64_t> sizes(filter.dims.begin() + 2, filter.dims.end());
  if (attributes.getInt("groups", 1) != 1 || attributes.getInts("stride") != sizes || !are("dilation", 1) ||
      !are("pre_padding", 0) || !are("post_padding", 0) || !are("output_padding", 0)) {
    return "only deconvolutions whose windows lie side by side have an integer form";
  }
  const Tensor* bias = layer.getInput(2);
  const bool is_plain = (bias == nullptr || bias->constant()) && layer.getInput(3) == nullptr;
  return is_plain ? "" : "its bias is no constant, or it adds a residual";
}

std::string whyNot(const Layer& layer, const Options& options) {
  const DType dtype = layer.getInput(0)->getType();
  if (dtype != DType::kFloat32) {
    return std::string("it computes in ") + toString(dtype) + ", only float32 is quantized";
  }
  const bool is_matrix = layer.getType() == LayerType::kMATRIX_MULTIPLY;
  const bool is_deconvolution = layer.getType() == LayerType::kDECONVOLUTION;
  const Weights* weights = layer.getInput(1)->constant();
  if (!weights) {
    return is_matrix ? "its right operand is no constant" : "its weights are no constant";
  }
  const std::string form = is_matrix          ? whyNotMatrices(layer, *weights)
                           : is_deconvolution ? whyNotBoxes(layer, *weights)
                                              : whyNotGroups(layer, *weights);
  if (!form.empty()) {
    return form;
  }
  const bool outputs_first = !is_deconvolution && (!is_matrix || layer.attributes().getBool("transpose_b", false));
  const int64_t outputs = weights->dims[outputs_first ? 0 : 1];
  const int64_t products = is_deconvolution ? weights->dims[0]
                           : outputs == 0   ? 0
                                            : static_cast<int64_t>(weights->count()) / outputs;
  if (products > kMostStepProducts) {
    return "its sums of " + text(products) + " products may leave int32, which holds " + text(kMostStepProducts);
  }
  const bool has_to_gain = options.min_multiplications > 0;
  if (has_to_gain && products < kLeastProducts) {
    return "its sums of " + text(products) + " products are too short to gain from integers";
  }
  const int64_t multiplications = elements(*layer.getOutput(0)) * products;
  if (multiplications < std::max<int64_t>(options.min_multiplications, 1)) {
    return "its " + text(multiplications) + " multiplications are too few to gain from integers";
  }
  if (has_to_gain && multiplications < kLeastReuse * elements(*layer.getInput(0))) {
    return "it multiplies each input " + text(multiplications / elements(*layer.getInput(0))) +
           " times, too few to gain from integers";
  }
  return areFinite(*weights) ? "" : "its weights are not finite";
}

}  // namespace

std::vector<Candidate> findCandidates(const Network& network, const Options& options) {
  std::vector<Candidate> candidates;
  for (Layer* layer : network.layers()) {
    const LayerType type = layer->getType();
    if (type == LayerType::kCONVOLUTION || type == LayerType::kDECONVOLUTION || type == LayerType::kMATRIX_MULTIPLY) {
      candidates.push_back({layer, whyNot(*layer, options)});
    }
  }
  return candidates;
}

std::vector<Tensor*> wantedTensors(const std::vector<Candidate>& candidates) {
  std::set<const Layer*> quantized;
  for (const Candidate& candidate : candidates) {
    if (candidate.reason.empty()) {
      quantized.insert(candidate.layer);
    }
  }
  std::vector<Tensor*> wanted;
  std::set<int64_t> seen;
  for (const Candidate& candidate : candidates) {
    if (!candidate.reason.empty()) {
      continue;
    }
    Tensor* residual = candidate.layer->getInput(3);
    for (Tensor* tensor : {candidate.layer->getInput(0), residual}) {
      const bool is_wanted = tensor != nullptr && (tensor != residual || quantized.count(tensor->producer()) != 0);
      if (is_wanted && seen.insert(tensor->id()).second) {
        wanted.push_back(tensor);
      }
    }
  }
  return wanted;
}

}  // namespace torchtrt::quantization
