// compile() throws these for arguments that cannot be meant: the message says expected and got, the advice the way out.
#pragma once

#include <string>

#include "torchtrt/error.h"

namespace torchtrt::compiler {

[[noreturn]] inline void rejectOption(const std::string& message, const std::string& advice) {
  throw CompileError(ErrorCode::kInvalidOption, message, {}, advice);
}

[[noreturn]] inline void rejectInput(const std::string& message, const std::string& advice) {
  throw CompileError(ErrorCode::kInvalidInputSpec, message, {}, advice);
}

}  // namespace torchtrt::compiler
