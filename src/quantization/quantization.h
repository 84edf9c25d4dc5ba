// Post-training quantization, Network to Network: what the tensors of an optimized network reach on sample data gives
// ranges, and with ranges its products become products of integers. Nothing here knows of TorchScript.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torchtrt/engine.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::quantization {

// The rule that takes a range from the values that a tensor held.
enum class Method : uint8_t {
  kEntropy,     // clipped where the histogram loses the least information (Kullback-Leibler divergence)
  kMinMax,      // all of it
  kPercentile,  // all but the outermost
};

// The range of an activation's quantized values. It always contains zero, which is exact.
struct Range {
  double low = 0;
  double high = 0;
};
using Ranges = std::map<std::string, Range>;  // by the name of a tensor of the optimized network

struct Options {
  Method method = Method::kEntropy;
  double percentile = 99.99;  // kPercentile: how much of the values lies within, in percent
  bool symmetric = false;     // activations: as far below zero as above
  // The largest relative error of an output, |quantized - float| / |float| in 2-norms over all batches, that is taken;
  // the layers that cost the most are left in float until it is met. 0: all are quantized, and none is measured.
  double accuracy_target = 0;
  std::function<void(size_t done, size_t all)> progress = {};  // of measuring layers, may be empty
  // Layers of fewer multiplications, at the optimum shape, stay in float, which is as fast there (measured on AVX2,
  // with quantizing the operand: 1.04 times as fast at 40,000, 0.93 at 10,000). With 0 those of short sums do not
  // either.
  int64_t min_multiplications = int64_t{1} << 15;
  // A batch that takes more bytes for the tensors whose ranges are asked for runs several times, for a part of them
  // each.
  size_t max_batch_bytes = size_t{512} << 20;
};

// One layer that might have been quantized.
struct LayerChoice {
  std::string layer;  // its name
  std::string kind;   // of the layer table
  Location location;
  bool is_quantized = false;
  std::string reason;  // why it is not
  double error = -1;   // relative, of the outputs, with this layer alone quantized; negative where it was not measured
};

struct Quantized {
  std::unique_ptr<network::Network> network;
  std::vector<LayerChoice> layers;  // in order of the network
  double error = -1;                // relative, of the outputs; negative where it was not measured
};

// A network under calibration. Batches are run once for their ranges and again where layers are measured, so they are
// kept if accuracy_target asks for that.
class TORCHTRT_API Calibration {
 public:
  // `network`: optimized here, on a copy, as a build would do.
  Calibration(const network::Network& network, Options options);
  ~Calibration();
  Calibration(const Calibration&) = delete;
  Calibration& operator=(const Calibration&) = delete;

  // Returns the key of this network's ranges in a cache. It is a hash of the optimized network with its weights, since
  // those of another training have other ranges. Its name and the ranges of its symbols do not count.
  const std::string& key() const;
  // Some layer may be quantized. Without, there is nothing to run batches for.
  bool hasCandidates() const;

  // Runs one batch. Tensors are as an engine of the network takes them, and copied where they must outlive the call.
  // Throws EngineError, after which all is as before, and CompileError (kBuildFailed), where the network cannot be
  // built.
  void add(std::span<const engine::TensorView> inputs);
  size_t batches() const;
  // Returns the ranges of the tensors that quantize() asks for, without those that were never seen or held nothing but
  // zeros.
  Ranges ranges() const;

  // The optimized network with integer products wherever the ranges and the layers allow, for builder::build(); ranges:
  // those from add(), or read from a cache, of which others are ignored. The layers left in float say why. Throws
  // CompileError (kInvalidOption) where an accuracy target is set and there is no batch, or a range is none.
  Quantized quantize(const Ranges& ranges) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A cache file: what ranges were computed for, and the ranges, one a line, so that they can be read and edited.
//
//   torchtrt calibration 1
//   method entropy               (or: method percentile 99.99; symmetric ranges: method entropy symmetric)
//   network <Calibration::key()>
//   range <low> <high> <tensor name>
struct Cache {
  Method method = Method::kEntropy;
  double percentile = Options().percentile;  // of kPercentile only
  bool symmetric = false;
  std::map<std::string, Ranges> networks;  // by Calibration::key()
};
TORCHTRT_API std::string print(const Cache& cache);
TORCHTRT_API Cache parseCache(std::string_view text);  // throws CompileError (kInvalidOption) with the line

}  // namespace torchtrt::quantization
