// What can be said of a compile's options before anything is lowered.
#pragma once

#include <torch/script.h>

#include "torchtrt/options.h"

namespace torchtrt::compiler {

// Throws CompileError(kInvalidOption) for options that contradict each other or ask for a device that is not here.
// Options that a CPU engine has no use for are explained in the log. The module may be null.
void checkOptions(const ts::CompileSpec& spec, const torch::jit::Module* module);

}  // namespace torchtrt::compiler
