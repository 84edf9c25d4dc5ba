// Post-training quantization: calibrators, which say what the tensors of a module reach on real data. Give one as
// CompileSpec::ptq_calibrator with kChar among enabled_precisions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::ptq {

// How a range is taken from what a tensor was seen to hold.
enum class CalibrationAlgo : int8_t {
  kENTROPY_CALIBRATION,    // clipped where the histogram loses the least information
  kENTROPY_CALIBRATION_2,  // the same
  kLEGACY_CALIBRATION,     // clipped at a percentile
  kMINMAX_CALIBRATION      // all of it
};

// What a compile is to calibrate with. Batches, a cache of ranges, or both.
struct TORCHTRT_API Calibrator {
  CalibrationAlgo algo = CalibrationAlgo::kENTROPY_CALIBRATION_2;
  double percentile = 99.99;  // kLEGACY_CALIBRATION, in percent
  bool symmetric = false;     // activations: as many steps below zero as above
  // The arguments of the next call of the method, nothing after the last; restart goes back to the first.
  std::function<std::optional<std::vector<torch::jit::IValue>>()> next_batch;
  std::function<void()> restart;
  std::string cache_file;  // ranges are written here, and with use_cache read instead of calibrating where it has them
  bool use_cache = false;
};

}  // namespace torchtrt::ptq
