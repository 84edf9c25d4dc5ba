// Operators of complex tensors that are written with their parts.
#pragma once

#include "conversion/ivalues.h"

namespace torchtrt::conversion::complex {

using Function = void (*)(ConversionCtx& ctx, const torch::jit::Node& node);
// Returns the function of the operator's name; null if there is none.
Function findFunction(const torch::jit::Node& node);

// Converts the square of a magnitude from the parts; false where the node is something else.
bool convertSquareOfMagnitude(ConversionCtx& ctx, const torch::jit::Node& node);

}  // namespace torchtrt::conversion::complex
