// What a measurement of kernels holds for: the processor, what of it may be used, and these kernels.
#pragma once

#include <string>

#include "torchtrt/export.h"

namespace torchtrt::kernels {

// One line: version of the library, processor, instruction sets and their cap, caches, threads. Timings found under
// another key say nothing here.
TORCHTRT_API std::string machineKey(int threads);

}  // namespace torchtrt::kernels
