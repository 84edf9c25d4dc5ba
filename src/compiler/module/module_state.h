// Tells if calls of a method depend on the ones before them, through attributes of the module. It does not tell what
// they depend on.
#pragma once

#include <string>

#include "lowering/lowering.h"
#include "partitioning/roles.h"

namespace torchtrt::compiler {

// True if a call may find other values in the module than the one before it. False if such values are only read to warn
// once, as in torchvision's detection models.
bool callsLeaveState(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles);

// Returns what decides the types in a call of the module: the sizes and dtypes of the tensors that it holds, and the
// values of whole numbers, flags and texts.
std::string stateOf(const torch::jit::IValue& module);

}  // namespace torchtrt::compiler
