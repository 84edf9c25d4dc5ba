// Activations in device code: for the layer itself, and for those that apply one last.
#pragma once

#include <optional>
#include <string>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

// True if text/functions.cuh computes an activation on this dtype; "" is none.
bool hasActivation(const std::string& name, DType dtype);

// Why a layer's fused activation cannot be computed on this dtype; nothing if it can.
std::optional<Refusal> refuseFusedActivation(const Attributes& attributes, DType dtype);
// The function of text/functions.cuh for it, of results that are stored as `dtype`; "" is none.
std::string activationFunction(const std::string& name, DType dtype);
// Defines ACTIVATION(x, alpha, beta) as that activation, or as the one of that name, of results that are stored as
// `dtype`. Integers are wrapped to it first, as on the CPU.
void defineActivation(Source& source, const std::string& name, DType dtype);
void defineFusedActivation(Source& source, const Attributes& attributes, DType dtype);
// Its alpha and beta, two doubles.
Arguments& addFusedActivation(Arguments& arguments, const Attributes& attributes);

}  // namespace torchtrt::cuda
