// Checks a saved module before libtorch reads and trusts it: the sizes of tensors' records against what the pickles say
// of them, the places of tensors in their storages, and the nesting of values and code. A module that passes can still
// compute anything, since it is a program.
#pragma once

#include <istream>
#include <string>

#include "torchtrt/export.h"

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace torchtrt::runtime {

// Throws EngineError (kPlanCorrupt) with the record's name; `bytes` is the size of the whole archive.
void checkModuleFile(caffe2::serialize::PyTorchStreamReader& reader, size_t bytes);

// Checks TorchScript's printed code: libtorch reads it by calling itself, and a stack that is too small ends the
// process.
void checkCode(const std::string& code);

}  // namespace torchtrt::runtime
