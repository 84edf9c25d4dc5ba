#include "quantization/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace torchtrt::quantization {

using network::Network;
using network::Weights;

namespace {

// Sums of squares over all samples of one output.
struct Squares {
  double difference = 0;
  double expected = 0;

  double relative() const {
    return difference == 0 ? 0 : std::sqrt(difference / expected);
  }
};

// Values that are not finite have to be the same: no distance tells how wrong they are.
template <typename T>
void addSquares(const Weights& got, const Weights& expected, Squares& squares) {
  for (size_t i = 0; i < expected.count(); ++i) {
    const auto wanted = static_cast<double>(expected.as<T>()[i]);
    const auto value = static_cast<double>(got.as<T>()[i]);
    if (std::isfinite(wanted) && std::isfinite(value)) {
      squares.difference += (value - wanted) * (value - wanted);
      squares.expected += wanted * wanted;
    } else if (value != wanted && !(std::isnan(value) && std::isnan(wanted))) {
      squares.difference = std::numeric_limits<double>::infinity();
    }
  }
}

double errorOf(const Network& network, const std::vector<Sample>& samples) {
  const auto engine = loadEngine(*comparable(network));
  std::vector<Squares> squares(engine->outputs().size());
  for (const Sample& sample : samples) {
    const Tensors outputs = run(*engine, sample.inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].dims != sample.outputs[i].dims) {  // as long as the data say
        squares[i].difference = std::numeric_limits<double>::infinity();
      } else if (outputs[i].dtype == DType::kFloat32) {
        addSquares<float>(outputs[i], sample.outputs[i], squares[i]);
      } else {
        addSquares<double>(outputs[i], sample.outputs[i], squares[i]);
      }
    }
  }
  double error = 0;
  for (const Squares& output : squares) {
    error = std::max(error, output.relative());
  }
  return error;
}

}  // namespace

std::unique_ptr<Network> comparable(const Network& network) {
  auto copy = network.clone();
  for (int i = 0; i < copy->getNbOutputs(); ++i) {
    network::Tensor& output = *copy->getOutput(i);
    if (output.getType() != DType::kFloat32 && output.getType() != DType::kFloat64) {
      copy->replaceOutput(i, *copy->addCast(output, DType::kFloat64)->getOutput(0));
    }
  }
  return copy;
}

Measured measureLayers(const std::vector<int64_t>& layers, const std::vector<Sample>& samples, double target,
                       const std::function<std::unique_ptr<Network>(const std::set<int64_t>&)>& make,
                       const std::function<void(size_t done, size_t all)>& progress) {
  Measured measured;
  measured.layers = {layers.begin(), layers.end()};
  measured.error = layers.empty() ? 0 : errorOf(*make(measured.layers), samples);
  if (measured.error <= target) {
    return measured;
  }
  for (const int64_t layer : layers) {
    measured.alone[layer] = errorOf(*make({layer}), samples);
    if (progress) {
      progress(measured.alone.size(), layers.size());
    }
  }
  std::vector<int64_t> costliest = layers;
  std::stable_sort(costliest.begin(), costliest.end(),
                   [&](int64_t a, int64_t b) { return measured.alone.at(a) > measured.alone.at(b); });
  // The error is too large without the first `too_few`, and small enough without the first `enough`.
  size_t too_few = 0;
  size_t enough = costliest.size();
  measured.layers.clear();
  measured.error = 0;
  while (enough - too_few > 1) {
    const size_t left_out = too_few + (enough - too_few) / 2;
    const std::set<int64_t> rest(costliest.begin() + static_cast<std::ptrdiff_t>(left_out), costliest.end());
    const double error = errorOf(*make(rest), samples);
    if (error <= target) {
      enough = left_out;
      measured.layers = rest;
      measured.error = error;
    } else {
      too_few = left_out;
    }
  }
  return measured;
}

void addMeasured(const Measured& measured, const std::vector<int64_t>& ids, Quantized& result) {
  for (size_t i = 0; i < result.layers.size(); ++i) {
    LayerChoice& choice = result.layers[i];
    choice.is_quantized = measured.layers.count(ids[i]) != 0;
    if (const auto alone = measured.alone.find(ids[i]); alone != measured.alone.end()) {
      choice.error = alone->second;
    }
    if (!choice.is_quantized && choice.reason.empty()) {
      choice.reason = "it costs more accuracy than the layers that are quantized, which meet the target without it";
    }
  }
  result.error = measured.error;
}

}  // namespace torchtrt::quantization
