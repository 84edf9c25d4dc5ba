// Finds the layers of a network that can compute with integers, and the reasons why others cannot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quantization/quantization.h"

namespace torchtrt::quantization {

struct Candidate {
  network::Layer* layer;
  std::string reason;  // why it stays in float; empty for one that can be quantized
};

// The products of a network in its order: convolutions, deconvolutions and matrix multiplications.
std::vector<Candidate> findCandidates(const network::Network& network, const Options& options);

// The tensors whose ranges quantizing the candidates may ask for, by id, in order of the network: what they multiply,
// and residuals that they make.
std::vector<network::Tensor*> wantedTensors(const std::vector<Candidate>& candidates);

}  // namespace torchtrt::quantization
