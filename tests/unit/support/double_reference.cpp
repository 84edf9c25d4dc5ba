#include "support/double_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>

#include "support/interpreter.h"

namespace torchtrt::testing {

using network::Network;
using network::Weights;

namespace {

constexpr int kSamples = 4;  // of rounding
constexpr double kFloat32Unit = 0x1p-23;
constexpr double kScatter = 4;  // how many times as far from the exact result counts as equally far

Weights widened(const Weights& weights) {
  if (weights.dtype != DType::kFloat32) {
    return weights;
  }
  void* memory = nullptr;
  Weights wide = Weights::allocate(DType::kFloat64, weights.dims, &memory);
  std::copy_n(weights.as<float>(), weights.count(), static_cast<double*>(memory));
  return wide;
}

// Plugins of one operand stay in float32, between casts:
//   %y = plugin_v2(%x) {...} : float64[...]
std::string withPluginsInFloat32(const std::string& text) {
  std::istringstream stream(text);
  std::string changed;
  for (std::string line; std::getline(stream, line);) {
    const size_t call = line.find(" = plugin_v2("), operand = call + 13, end = line.find(") {");
    if (call == std::string::npos || line.find(',') < end) {
      changed += line + "\n";
      continue;
    }
    const std::string name = line.substr(0, call), fields = line.substr(end, line.rfind(" : ") - end);
    changed.append(name).append(".in = cast(").append(line, operand, end - operand).append(") {to=float32}\n");
    changed.append(name).append(".out = plugin_v2(").append(name).append(".in").append(fields).append("\n");
    changed.append(name).append(" = cast(").append(name).append(".out) {to=float64}\n");
  }
  return changed;
}

// Its text with the other dtype, which names the same layers; then the constants, whose text would be rounded anew.
std::unique_ptr<Network> widened(const Network& network) {
  std::string text = network::print(network);
  for (size_t at = text.find("float32"); at != std::string::npos; at = text.find("float32", at)) {
    text.replace(at, 7, "float64");
  }
  text = withPluginsInFloat32(text);
  network::WeightStore store;
  for (const auto& [hash, weights] : network::collectWeights(network)) {
    store.emplace(hash, widened(weights));
  }
  auto wide = network::parse(text, store);
  for (const network::Layer* layer : network.layers()) {
    if (layer->weights()) {
      network::Layer* twin = wide->findLayer(layer->getName());
      wide->replaceAllUses(*twin->getOutput(0), *wide->addConstant(widened(*layer->weights()), twin)->getOutput(0));
    }
  }
  return wide;
}

double valueAt(const Weights& weights, size_t i) {
  return weights.dtype == DType::kFloat32 ? static_cast<double>(weights.as<float>()[i]) : weights.as<double>()[i];
}

double distance(const Weights& a, const Weights& b) {
  double largest = 0;
  for (size_t i = 0; i < a.count(); ++i) {
    const double difference = std::abs(valueAt(a, i) - valueAt(b, i));
    if (!std::isfinite(difference)) {
      return std::numeric_limits<double>::infinity();
    }
    largest = std::max(largest, difference);
  }
  return largest;
}

// True if the layer multiplies x by a sum of 1 and a number near -1 where x is far below 0.
bool isGelu(const network::Layer& layer) {
  const std::string op = layer.getType() == network::LayerType::kACTIVATION ? layer.attributes().getString("op") : "";
  return op == "gelu_erf" || op == "gelu_tanh";
}

// Every element moves by a unit of float32 at random, and that of a gelu by a unit of the operand.
void roundAtRandom(const network::Layer& layer, const std::vector<const Weights*>& operands, Weights& result,
                   std::mt19937& random) {
  if (result.dtype != DType::kFloat64) {
    return;
  }
  const double* const sizes = isGelu(layer) ? operands[0]->as<double>() : result.as<double>();
  void* memory = nullptr;
  Weights rounded = Weights::allocate(result.dtype, result.dims, &memory);
  for (size_t i = 0; i < result.count(); ++i) {
    const double unit = random() % 2 == 0 ? kFloat32Unit : -kFloat32Unit;
    static_cast<double*>(memory)[i] = result.as<double>()[i] + unit * sizes[i];
  }
  result = rounded;
}

}  // namespace

bool isRounding(const Network& network, const std::vector<Weights>& inputs, size_t index, const Weights& got,
                const Weights& expected) {
  if (got.dtype != DType::kFloat32 || expected.dtype != DType::kFloat32 || got.dims != expected.dims) {
    return false;
  }
  try {
    const auto wide = widened(network);
    network::verify(*wide);
    std::vector<Weights> wide_inputs(inputs.size());
    std::transform(inputs.begin(), inputs.end(), wide_inputs.begin(),
                   [](const Weights& input) { return widened(input); });
    const Weights exact = interpret(*wide, wide_inputs)[index];
    double noise = distance(expected, exact);
    std::mt19937 random(1);
    for (int i = 0; i < kSamples; ++i) {
      const auto rounded = interpret(*wide, wide_inputs,
                                     [&](const network::Layer& layer, const std::vector<const Weights*>& operands,
                                         Weights& result) { roundAtRandom(layer, operands, result, random); });
      noise = std::max(noise, distance(rounded[index], exact));
    }
    const double far = distance(got, exact);
    return std::isfinite(far) && far <= kScatter * noise;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace torchtrt::testing
