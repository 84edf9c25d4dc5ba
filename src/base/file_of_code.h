// Finds the file that holds a function of this process. Libraries are opened beside it, so its path has to be whole:
// the loader's own name for a file may be relative to a working directory that is another one by now.
#pragma once

#include <filesystem>

#include "torchtrt/export.h"

namespace torchtrt {

// The path as the kernel knows it, from the root. Empty if the address is in no file, or the file was removed.
TORCHTRT_API std::filesystem::path fileOfCode(const void* address);

}  // namespace torchtrt
