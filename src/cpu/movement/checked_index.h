// The one check of indices that gather and scatter read.
#pragma once

#include <cstdint>
#include <string>

#include "torchtrt/error.h"

namespace torchtrt::kernels {

// The place that an index names along an axis of `size` elements: negative ones count from the end, where they may be.
// Throws EngineError(kIndexOutOfRange), which names the layer.
[[gnu::noinline]] inline int64_t checkedIndex(int64_t index, int64_t size, bool negative, const char* layer) {
  if (index < (negative ? -size : 0) || index >= size) [[unlikely]] {
    throw EngineError(
        ErrorCode::kIndexOutOfRange,
        std::string(layer) + " met index " + std::to_string(index) + " for an axis of size " + std::to_string(size), {},
        negative ? "indices must lie in [-size, size)" : "indices must lie in [0, size)");
  }
  return index < 0 ? index + size : index;
}

}  // namespace torchtrt::kernels
