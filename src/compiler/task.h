// The task of one compile, which its phases hand on.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

#include "compiler/module/source.h"
#include "compiler/target.h"
#include "lowering/lowering.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

struct Task {
  const Source& source;
  const lowering::LoweredGraph& lowered;  // of the source
  const ts::CompileSpec& spec;
  DataType precision;  // of weights, where they were cast
  const DeviceTarget& target;
};

std::string methodName(const lowering::LoweredGraph& lowered);
// The arguments of one call, where the user gave them.
std::vector<torch::jit::IValue> samplesOf(const Task& task);
// True if the result has methods or hooks beside the compiled one, which share weights with the engines.
bool carriesMethods(const Source& source, const ts::CompileSpec& spec);
// True if engines read weights where the compiled module has them: a GPU's engine has its own there.
bool sharesWeights(const Task& task);

}  // namespace torchtrt::compiler
