// Chooses among the implementations that can multiply quantized values: the rules of thumb of the list in families.cpp.
// Each returns the reason to leave a problem to the implementations behind it, or nothing.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::kernels::quantized {

// Of quantized_convolution and quantized_matrix_multiply.
std::optional<Refusal> leaveOneDnn(const Problem& problem);
// Of quantized_convolution.
std::optional<Refusal> leaveWinograd(const Problem& problem);

}  // namespace torchtrt::kernels::quantized
