// Streams, which order work on a device, and memory that callers hand to it. No libtorch here.
#pragma once

#include <cstddef>

#include "torchtrt/export.h"

namespace torchtrt::device {

// An order of work on a device: work given to one stream runs in the order in which it was given. The CPU has none; a
// CUDA device's handle is a CUstream, null for the default stream.
struct Stream {
  void* handle = nullptr;
};

// Memory that somebody else hands out, in the order of a stream: PyTorch's caching allocator. Any thread may ask.
class TORCHTRT_API MemorySource {
 public:
  virtual ~MemorySource() = default;
  // 64-byte aligned, uninitialised; null when there is not enough.
  virtual void* allocate(size_t bytes, Stream stream) = 0;
  // Work that was given to `stream` before may still use it.
  virtual void free(void* data, size_t bytes, Stream stream) = 0;
};

}  // namespace torchtrt::device
