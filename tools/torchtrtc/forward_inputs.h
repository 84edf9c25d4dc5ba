// The arguments that a command line gives to a forward: random tensors of the specifications, or the values of a file.
// For the commands that call a module. When compiling, the compiler matches specifications and arguments.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

#include "call_options.h"

namespace torchtrtc {

// Returns the arguments of the module's forward, without self. Throws CompileError(kInvalidModule) for a module without
// one.
std::vector<c10::Argument> parametersOf(const torch::jit::Module& module);
// "forward(x: Tensor, mask: Optional[Tensor] = None)"
std::string declaration(const std::vector<c10::Argument>& parameters);

// `command` is the command line before the specifications ("torchtrtc run net.ts"), for the example in a message.
// Throws CompileError: kInvalidInputSpec for specifications or values that are too few, too many or of another type, or
// that cannot be read; kInvalidOption for a file of something else; kInvalidModule for a module without a forward, or
// for specifications where forward wants something else than tensors.
std::vector<torch::jit::IValue> forwardInputs(const torch::jit::Module& module, const CallOptions& options,
                                              const std::string& command);

}  // namespace torchtrtc
