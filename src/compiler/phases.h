// The phases of a compile with a sentence each, in the order in which compile() enters them first. Failures go back to
// partitioning, and int8 engines are stitched once more after calibration.
#pragma once

#include <array>

namespace torchtrt::compiler {

enum class Phase {
  kChecking,
  kLowering,
  kPartitioning,
  kConversion,
  kOptimization,
  kBuilding,
  kLoading,
  kStitching,
  kValidation,
  kTuning,
  kCalibration
};

struct PhaseInfo {
  Phase phase;
  const char* name;
  const char* meaning;
};

inline constexpr std::array kPhases = {
    PhaseInfo{Phase::kChecking, "checking", "options and input specifications are checked for contradictions"},
    PhaseInfo{Phase::kLowering, "lowering", "the method becomes one functional graph with a reduced operator set"},
    PhaseInfo{Phase::kPartitioning, "partitioning", "the graph is cut into segments for engines and for PyTorch"},
    PhaseInfo{Phase::kConversion, "conversion", "every engine segment becomes a network without a trace of torch"},
    PhaseInfo{Phase::kOptimization, "optimization", "networks compute the same by fewer and better layers"},
    PhaseInfo{Phase::kBuilding, "building", "networks become plans: steps, memory orders, weights"},
    PhaseInfo{Phase::kLoading, "loading", "plans become engines: kernels are created and weights packed"},
    PhaseInfo{Phase::kStitching, "stitching",
              "engines and PyTorch's segments become one module with the old signature"},
    PhaseInfo{Phase::kValidation, "validation", "the module's results are compared with PyTorch's in one call"},
    PhaseInfo{Phase::kTuning, "tuning",
              "engines are timed against PyTorch on the sample inputs, where that is asked for"},
    PhaseInfo{Phase::kCalibration, "calibration",
              "engines become int8 ones, by ranges from batches, or get integer weights, where that is asked for"},
};

constexpr const PhaseInfo& phaseInfo(Phase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

}  // namespace torchtrt::compiler
