// Names of source files, as reports, saved files and messages tell them. Python knows a file by its whole path, which
// has the name of a user or of a machine in it, and makes equal modules different.
#pragma once

#include <string>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// A file of an installed package from the package on ("torch/nn/functional.py"), one below the working directory from
// there on, and any other by its last name. Other texts stay.
TORCHTRT_API std::string shownFile(const std::string& file);

// Gives nodes, also of inner blocks, copies of their sources that have such names, because libtorch saves the whole
// paths otherwise. Sources stay as they are: the module that was compiled has them, too.
TORCHTRT_API void showSourceFiles(torch::jit::Block& block);

}  // namespace torchtrt::lowering
