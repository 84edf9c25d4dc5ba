// Turns the inputs of a call into the values of the plan's registers, with every check on count, element type, rank and
// range that a caller can fail. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "torchtrt/engine.h"

namespace torchtrt::engine {

// Throws EngineError: kInputCount, kInputDType, kInputShape (also for a symbol outside of its range), kShapeArithmetic.
std::vector<int64_t> evaluateShapes(const plan::Plan& plan, std::span<const TensorView> inputs);

std::vector<int64_t> dimsOf(const std::vector<plan::Register>& registers, const std::vector<int64_t>& values);
std::string dimsText(std::span<const int64_t> dims);  // "[1, 3, 224, 224]"

}  // namespace torchtrt::engine
