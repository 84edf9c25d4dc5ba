// Calls have their workspace in an arena. On the host each thread has one, which all engines share that it runs. It is
// as large as the largest need so far, and given back when the thread ends. Nothing is shared between threads, so there
// are no locks. On a device with streams each call takes its workspace in the order of its stream, and gives it back at
// its end: two streams of one thread never share it. Private to this folder.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.h"

namespace torchtrt::engine {

struct Arena;
struct ArenaBlock;

// A workspace for the length of a call: on the host the calling thread's. A call inside of another (a plugin or an
// output allocator that runs an engine) gets a block of its own: leases end in the reverse order of their beginning, in
// their thread.
class WorkspaceLease {
 public:
  explicit WorkspaceLease(const device::Device& device, device::Stream stream = {},
                          std::shared_ptr<device::MemorySource> source = nullptr);
  ~WorkspaceLease();
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;

  // Returns the memory that it has since an earlier call; null when there was none.
  void* data() const;
  // Returns at least `bytes` of it, 64-byte aligned, uninitialised. It may lie elsewhere then. Throws EngineError
  // (kOutOfMemory), and leaves the thread without one.
  void* reserve(size_t bytes);
  // Makes the system give the pages of its first `bytes` now, 4 MiB at most. Nothing to do on a device with streams.
  void touch(size_t bytes);

 private:
  const device::Device& device_;
  device::Stream stream_;
  std::shared_ptr<device::MemorySource> source_;
  // Null on a device with streams, and in a thread that has given its own back already: then the block is the lease's.
  Arena* arena_;
  std::unique_ptr<ArenaBlock> own_;
  ArenaBlock* block_;
};

// Gives back what the calling thread holds and no call of it uses.
void releaseIdleWorkspace();

}  // namespace torchtrt::engine
