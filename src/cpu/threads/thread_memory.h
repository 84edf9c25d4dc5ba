// Memory that a thread takes while a kernel runs, for what is too large for a stack, whose size the caller of an engine
// chooses. A thread keeps some memory for this, so that the second run of a kernel allocates nothing.
// Prepared::scratchBytes() has what all threads share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/align.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

namespace detail {
// At the begin of a cache line. Throws std::bad_alloc, which the call of an engine reports. What was taken last goes
// back first where that is possible: then its place is free at once, else when the thread has given all back.
TORCHTRT_API void* takeThreadBytes(size_t bytes);
TORCHTRT_API void giveThreadBytes(void* memory, size_t bytes) noexcept;
}  // namespace detail

// Has the threads of the calling thread's next parallel loop, as many as `threads`, keep as much memory as any thread
// of this process has needed at a time so far. Throws std::bad_alloc.
TORCHTRT_API void keepThreadMemory(int threads);

template <typename T>
struct ThreadAllocator {
  using value_type = T;

  ThreadAllocator() = default;
  template <typename Other>
  ThreadAllocator(const ThreadAllocator<Other>&) {}
  T* allocate(size_t count) {
    return static_cast<T*>(detail::takeThreadBytes(count * sizeof(T)));
  }
  void deallocate(T* memory, size_t count) noexcept {
    detail::giveThreadBytes(memory, count * sizeof(T));
  }
  bool operator==(const ThreadAllocator&) const = default;
};

// A vector that lives while a kernel runs, in one thread.
template <typename T>
using ThreadVector = std::vector<T, ThreadAllocator<T>>;

template <typename T>
struct ThreadMemoryDeleter {
  size_t count = 0;

  void operator()(T* memory) const {
    ThreadAllocator<T>().deallocate(memory, count);
  }
};

template <typename T>
using ThreadMemory = std::unique_ptr<T[], ThreadMemoryDeleter<T>>;

// Not initialized.
template <typename T>
ThreadMemory<T> takeThreadMemory(size_t count) {
  return ThreadMemory<T>(ThreadAllocator<T>().allocate(count), ThreadMemoryDeleter<T>{count});
}

}  // namespace torchtrt::kernels
