// Whether calls of a method depend on the ones before them, through attributes of the module. Not what they depend on.
#pragma once

#include <string>

#include "lowering/lowering.h"
#include "partitioning/roles.h"

namespace torchtrt::compiler {

// Whether a call may find other values in the module than the one before it found. Not where all that is left there is
// read for nothing but to warn once, as torchvision's detection models do.
bool callsLeaveState(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles);

// What decides the types in a call of the module: the sizes and dtypes of the tensors that it holds, and the values of
// whole numbers, flags and texts.
std::string stateOf(const torch::jit::IValue& module);

}  // namespace torchtrt::compiler
