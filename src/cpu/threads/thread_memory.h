// Memory that one thread takes inside a parallel loop if it is too much for a stack, whose size the caller of an engine
// chooses. Prepared::scratchBytes() has what all threads share.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "base/align.h"

namespace torchtrt::kernels {

struct ThreadMemoryDeleter {
  static constexpr std::align_val_t kAligned{kAlignment};

  void operator()(void* memory) const {
    ::operator delete(memory, kAligned);
  }
};

template <typename T>
using ThreadMemory = std::unique_ptr<T[], ThreadMemoryDeleter>;

// Not initialized, at the begin of a cache line. Throws std::bad_alloc, which the call of an engine reports.
template <typename T>
ThreadMemory<T> takeThreadMemory(size_t count) {
  return ThreadMemory<T>(static_cast<T*>(::operator new(count * sizeof(T), ThreadMemoryDeleter::kAligned)));
}

}  // namespace torchtrt::kernels
