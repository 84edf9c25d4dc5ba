// Checks a compile's options before anything is lowered.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

#include "compiler/target.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

// Throws CompileError(kInvalidOption) for options that contradict each other; devices are target.h's.
// Options that an engine has no use for are explained in the log. The module may be null.
void checkOptions(const ts::CompileSpec& spec, const DeviceTarget& target, const torch::jit::Module* module);

// Throws CompileError(kInvalidOption) for what an update of weights could not do again: it has the module's file alone.
void checkRefit(const ts::CompileSpec& spec, const torch::jit::Module* module);

// Throws CompileError(kInvalidModule) where full compilation would leave out what a call does around the method.
void checkHooks(const ts::CompileSpec& spec, const torch::jit::Module& module, const std::string& method);

// The same as checkOptions once the arguments of a sample call are known, of which there are none where none were
// given; kInvalidInputSpec where they are not as many as the method takes.
void checkSamples(const ts::CompileSpec& spec, const std::vector<torch::jit::IValue>& samples,
                  const c10::FunctionSchema& schema);

}  // namespace torchtrt::compiler
