// Chooses among the implementations that can multiply two matrices: the rules of thumb of the list in families.cpp.
// Each returns the reason to leave a problem to the implementations behind it, or nothing.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::kernels::matmul {

std::optional<Refusal> leaveOneDnnBFloat16(const Problem& problem);
std::optional<Refusal> leavePackedGemm(const Problem& problem);
std::optional<Refusal> leaveRunTime(const Problem& problem);

// Below, packing a b that comes with the call takes longer than multiplying with it.
inline constexpr int64_t kFewRows = 4;

}  // namespace torchtrt::kernels::matmul
