// Weight-only quantization, Network to Network: matrix multiplications by constant float weights become multiplications
// by integer weights with a scale for each group of the depth. What they multiply stays floating, so no ranges are
// needed.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "quantization/quantization.h"

namespace torchtrt::quantization {

struct WeightOptions {
  int64_t bits = 8;         // 4 or 8
  int64_t group_size = 64;  // weights along the depth that share a scale; a multiple of 8
  bool has_zero_points =
      false;  // groups reach from their least to their greatest weight, not as far below zero as above
  // A layer that is to keep its weights, and why; empty for others. May be empty itself.
  std::function<std::string(const network::Layer&)> why_not = {};
  // Matrices of fewer weights stay: they lie in a cache, and rounding them saves next to nothing.
  int64_t min_weights = int64_t{1} << 14;
  // The largest relative error of an output, as in Options. 0: none is measured.
  double accuracy_target = 0;
  std::function<void(size_t done, size_t all)> progress = {};
};

// The weights of a network under rounding.
class TORCHTRT_API WeightRounding {
 public:
  // `network`: optimized here, on a copy, as a build would do. Throws CompileError (kInvalidNetwork).
  WeightRounding(const network::Network& network, WeightOptions options);
  ~WeightRounding();
  WeightRounding(const WeightRounding&) = delete;
  WeightRounding& operator=(const WeightRounding&) = delete;

  // Some layer may have integer weights.
  bool hasCandidates() const;

  // Runs one batch and keeps it, for an accuracy target. Throws EngineError, after which all is as before.
  void add(std::span<const engine::TensorView> inputs);

  // The optimized network with integer weights in place of all that allow it, or of those that leave the target met.
  // Each layer that keeps its weights says why. Throws CompileError (kInvalidOption) if there is a target and no batch.
  Quantized round() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torchtrt::quantization
