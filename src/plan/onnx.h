// Plans as an ONNX model, for programs that show graphs, such as Netron: each step is a node of the domain "torchtrt",
// its family the operator. No program but those that show it can run it. Protocol buffers are written by hand here: ten
// messages of onnx.proto, which have not changed in years.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "torchtrt/export.h"

namespace torchtrt::plan {

struct OnnxPart {
  const Plan* plan = nullptr;
  std::vector<std::string> implementations;  // one per step, or none
};

inline constexpr uint64_t kSmallWeight = 64;  // bytes that are always written

// The bytes of a model with the graphs of all plans beside each other. Dims that vary have the expressions of
// `torchtrtc inspect` as their names. `has_weights`: with the values of all weights, which the plans then have to hold;
// else with those of small ones that the plans hold, and the others' shapes alone.
TORCHTRT_API std::string onnxOf(const std::string& name, std::span<const OnnxPart> parts, bool has_weights);

}  // namespace torchtrt::plan
