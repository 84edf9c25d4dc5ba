// Post-training quantization of a compiled module: calibration batches that run through it, or a cache, give ranges to
// the tensors of its engines' networks, and with ranges products become products of integers
// (quantization/quantization.h).
#pragma once

#include <vector>

#include <torch/script.h>

#include "compiler/calibration/calibration_runs.h"
#include "compiler/segments/segment_engines.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

// Quantizes what can be quantized of the engines, which are those of runs.module and keep their networks. An engine
// stays as it is where the report says so: no batch reaches it, none of its layers has an integer form, or its results
// would be off by more than half of their norm. `samples`: the arguments of a call, or none; what the error is measured
// on where there is no batch. Throws CompileError for batches and caches that are of no use.
void quantizeEngines(SegmentEngines& engines, const ts::CompileSpec& spec, const CalibrationRuns& runs,
                     const std::vector<torch::jit::IValue>& samples);

}  // namespace torchtrt::compiler
