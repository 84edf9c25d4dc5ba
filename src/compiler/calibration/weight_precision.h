// Weight-only quantization of a compiled module: matrix multiplications of its engines get integer weights
// (quantization/weights.h).
#pragma once

#include <memory>
#include <vector>

#include <torch/script.h>

#include "compiler/calibration/calibration_runs.h"
#include "compiler/segments/segment_engines.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

// Throws CompileError for options of weight_precision that are of no use.
void checkWeightPrecision(const ts::CompileSpec& spec, const DeviceTarget& target);

// Rounds the weights of the engines, which are those of runs.module and keep their networks. Layers of modules that
// `spec.precision` pins keep theirs. An engine stays as it is where the report says so. `samples`: the arguments of a
// call, or none; what the error is measured on if there are no batches.
void roundWeights(SegmentEngines& engines, const ts::CompileSpec& spec, const CalibrationRuns& runs,
                  const std::vector<torch::jit::IValue>& samples);

// The same of one network, without measuring.
std::unique_ptr<network::Network> withRoundedWeights(const network::Network& network, const ts::CompileSpec& spec);

}  // namespace torchtrt::compiler
