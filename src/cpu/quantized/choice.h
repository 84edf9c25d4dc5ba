// Chooses among the implementations that can multiply quantized values: the rules of thumb of the list in families.cpp.
// Each returns the reason to leave a problem to the implementations behind it, or nothing.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::kernels::quantized {

// Refuses tiles for quantized_convolution where another implementation is likely faster.
std::optional<Refusal> leaveTiles(const Problem& problem);
// Refuses oneDNN for quantized_convolution and quantized_matrix_multiply where another implementation is likely faster.
std::optional<Refusal> leaveOneDnn(const Problem& problem);
// Refuses Winograd for quantized_convolution where another implementation is likely faster.
std::optional<Refusal> leaveWinograd(const Problem& problem);

}  // namespace torchtrt::kernels::quantized
