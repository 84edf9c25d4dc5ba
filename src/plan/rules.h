// Every step keeps the rules of its kind (base/layer_rules) on numbers, so that every kernel stays within its operands,
// whatever the plan says.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.h"

namespace torchtrt::plan {

// Checks every step and every view of the plan for the given register values. A broken rule is an EngineError with
// `code`: kPlanCorrupt while loading, kShapeArithmetic for the shapes of a call.
TORCHTRT_API void checkShapes(const Plan& plan, std::span<const int64_t> registers, ErrorCode code);

// The two halves of validate(): what holds whatever the shapes, and that steps fit where every symbol has its optimum,
// for which kernels are created. Other shapes are checked when they come.
TORCHTRT_API void checkStructure(const Plan& plan);
TORCHTRT_API void checkOptimumShapes(const Plan& plan, ErrorCode code);

}  // namespace torchtrt::plan
