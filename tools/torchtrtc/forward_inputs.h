// The inputs that a command line gives a forward: as many specifications as it takes tensors, made up at random. For
// the commands that call a module; compiling matches specifications and arguments in the compiler.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrtc {

// `command` is what stands before the specifications ("torchtrtc run net.ts"), for the example in a message. Throws
// CompileError: kInvalidInputSpec where they are too few or too many, or one cannot be read; kInvalidModule without a
// forward, or with one that wants something else than tensors.
std::vector<torch::jit::IValue> forwardInputs(const torch::jit::Module& module, const std::vector<std::string>& specs,
                                              const std::string& command);

}  // namespace torchtrtc
