// Exported programs of torch.export (.pt2). Only Python reads them, so a Python that has torch and torchtrt compiles
// them: TORCHTRT_PYTHON, or python3 on the PATH. The command line means the same as for TorchScript modules.
#pragma once

#include <string>

#include "compile_options.h"

namespace torchtrtc {

// Returns the compiled module as a file's content. Throws CompileError(kInvalidOption) for options that say nothing of
// an exported program, and CompileError(kInvalidModule) where there is no such Python. Ends this process with Python's
// exit status where that refused the program: it has said why.
std::string compileExportedProgram(const CompileOptions& options);

}  // namespace torchtrtc
