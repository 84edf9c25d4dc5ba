// Lists what a module's methods call of the original's compilation unit. Graphs point at its classes' methods and at
// its functions without owning them, and whoever compiles a module may let the original go.
#pragma once

#include <torch/script.h>

namespace torchtrt::stitching {

// Lets the module's compilation unit own the original's, where a method or attribute of the module names a class or
// function of it. Else nothing: graphs of the original, and the weights that they may hold as constants, can go.
void keepUnitInUse(const torch::jit::Module& original, const torch::jit::Module& module);

}  // namespace torchtrt::stitching
