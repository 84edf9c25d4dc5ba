// The tensors of an update, put into the module that is compiled with them.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/compile.h"

namespace torchtrt::compiler {

// Sets parameters and buffers by their names. Floating dtypes are cast to the module's, as load_state_dict does.
// Returns the names of the buffers that were not given and stay as they are: those that are `optional` or, with
// `strict` = false, any, and then names that the module does not have are ignored. Throws CompileError(kInvalidOption)
// with all names that do not fit.
std::vector<std::string> setWeights(const torch::jit::Module& module, const ts::Weights& weights,
                                    const std::vector<std::string>& optional, bool strict);

}  // namespace torchtrt::compiler
