// One switch for the texts of every level, from the environment, so that it reaches what is built deep inside a
// program:
//   TORCHTRT_DUMP=DIR        writes what each stage gives: lowered graphs, partitions, networks, plans, schedules
//   TORCHTRT_DUMP=DIR:REGEX  also what each pass made that changed something and whose name matches
// The name of a pass matches as "fuse_bias" or with its level, as "network.fuse_bias".
#pragma once

#include <string>

#include "torchtrt/export.h"

namespace torchtrt::dump {

// True if a result of a stage is written, or one of a pass of that name. Throws CompileError(kInvalidOption) for a
// variable that TORCHTRT_DUMP has replaced and for a REGEX that is none.
TORCHTRT_API bool isOn();
TORCHTRT_API bool wantsPass(const std::string& level, const std::string& pass);

// Writes DIR/<number>.<level>.<subject>.<what>.txt; numbers count up in a process, so that the files sort in the order
// in which they were made. Throws CompileError(kOutput) where that fails. Does nothing where the switch is off.
TORCHTRT_API void write(const std::string& level, const std::string& subject, const std::string& what,
                        const std::string& text);

}  // namespace torchtrt::dump
