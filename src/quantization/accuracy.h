// Decides, by measuring layer by layer, which layers stay in float so that the outputs stay near.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "quantization/quantization.h"
#include "quantization/runs.h"
#include "torchtrt/network.h"

namespace torchtrt::quantization {

// The inputs of a batch and the float network's outputs for them.
struct Sample {
  Tensors inputs;
  Tensors outputs;  // as those of comparable()
};

// A copy of the network whose outputs are float32 or float64, whatever they were.
std::unique_ptr<network::Network> comparable(const network::Network& network);

struct Measured {
  std::set<int64_t> layers;         // ids of those to quantize
  std::map<int64_t, double> alone;  // by a layer's id: the error with this one alone quantized; empty if not needed
  double error = 0;                 // with `layers` quantized
};

// Quantizes as many of the layers as leave every output of all samples within `target`, the relative error in 2-norms.
// It leaves the layer out first that costs the most alone; equal ones in order. make(ids): the network with these
// quantized. progress (may be empty) is told of every layer measured alone.
Measured measureLayers(const std::vector<int64_t>& layers, const std::vector<Sample>& samples, double target,
                       const std::function<std::unique_ptr<network::Network>(const std::set<int64_t>&)>& make,
                       const std::function<void(size_t done, size_t all)>& progress);

// Puts what was found into the error and the layers of `result`, whose ids are in `ids`. A layer without a reason that
// was not chosen gets one.
void addMeasured(const Measured& measured, const std::vector<int64_t>& ids, Quantized& result);

}  // namespace torchtrt::quantization
