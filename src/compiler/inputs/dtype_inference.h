// The dtype of an input that the user left open: what its first use asks for.
#pragma once

#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/options.h"
#include "torchtrt/types.h"

namespace torchtrt::compiler {

// An index is int64; beside a constant tensor, that tensor's dtype; else what follows through the graph says, else
// float32.
DType inferDType(const torch::jit::Value& value);
DType dtypeOf(DataType dtype);  // throws CompileError for kUnknown

}  // namespace torchtrt::compiler
