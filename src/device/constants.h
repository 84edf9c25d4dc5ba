// Memory for what an engine keeps and reads in every call: packed weights.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::device {

class ConstantPool;

// `bytes` bytes of the CPU's memory, 64-byte aligned, uninitialised; null for none. Pieces of all engines lie side by
// side in huge pages: a call walks through all of its weights, and with pages of 4 KiB it would wait for page tables
// for 6 % of its time (ResNet-50, batch 1; layers of few rows 14 %). Any thread may ask, and may let go.
// Throws EngineError(kOutOfMemory) that says how much was wanted and what for.
TORCHTRT_API std::shared_ptr<void> allocateConstant(size_t bytes, const std::string& purpose);
// Gives back what huge pages hold behind the last pieces, up to 2 MB: for when all of an engine is packed. LeNet's
// weights are an eighth of that.
TORCHTRT_API void trimConstants();

// While one lives, the constants that its thread allocates lie together, apart from all others, so that processes which
// allocate and write the same can have them in memory once (shared_pages.h). One at a time in a thread.
class TORCHTRT_API SharedConstants {
 public:
  SharedConstants();
  ~SharedConstants();
  SharedConstants(const SharedConstants&) = delete;
  SharedConstants& operator=(const SharedConstants&) = delete;

  // Ends the allocating and shares what is written. From now on writing there is a segmentation fault. Returns the
  // bytes that are shared; others stay as they are, for reasons that the log has.
  size_t share();

 private:
  std::shared_ptr<ConstantPool> pool_;
};

}  // namespace torchtrt::device
