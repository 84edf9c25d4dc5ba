// Memory for what an engine keeps and reads in every call: packed weights.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::device {

// `bytes` bytes of the CPU's memory, 64-byte aligned, uninitialised; null for none. Pieces of all engines lie side by
// side in huge pages: a call walks through all of its weights, and with pages of 4 KiB it would wait for page tables
// for 6 % of its time (ResNet-50, batch 1; layers of few rows 14 %). Any thread may ask, and may let go.
// Throws EngineError(kOutOfMemory) that says how much was wanted and what for.
TORCHTRT_API std::shared_ptr<void> allocateConstant(size_t bytes, const std::string& purpose);
// Gives back what huge pages hold behind the last pieces, up to 2 MB: for when all of an engine is packed. LeNet's
// weights are an eighth of that.
TORCHTRT_API void trimConstants();

}  // namespace torchtrt::device
