// A module that was not put into evaluation mode is compiled, and compared, as a copy that is.
#pragma once

#include "compiler/compile.h"

namespace torchtrt::compiler {

// The source itself where it is in evaluation mode; else a copy that shares its tensors, and a line says so: a warning
// with the submodules that give other results for it, where there are any.
Source inEvaluationMode(const Source& source);

}  // namespace torchtrt::compiler
