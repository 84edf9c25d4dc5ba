// Where calls have their workspace: one arena a thread, shared by all engines that the thread runs, as large as the
// largest need so far, given back when the thread ends. Nothing is shared between threads, so there are no locks.
// Private to this folder.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.h"

namespace torchtrt::engine {

struct Arena;
struct ArenaBlock;

// The calling thread's workspace for the length of a call. A call inside of another (a plugin or an output allocator
// that runs an engine) gets a block of its own: leases end in the reverse order of their beginning, in their thread.
class WorkspaceLease {
 public:
  WorkspaceLease();
  ~WorkspaceLease();
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;

  // Where it lies since an earlier call; null when there was none.
  void* data() const;
  // At least `bytes` of it, 64-byte aligned, uninitialised. It may lie elsewhere then. Throws EngineError
  // (kOutOfMemory), and leaves the thread without one.
  void* reserve(size_t bytes, const device::Device& device);
  // Makes the system give the pages of its first `bytes` now, 4 MiB at most.
  void touch(size_t bytes);

 private:
  Arena* arena_;  // null in a thread that has given its own back already: then the block is the lease's
  std::unique_ptr<ArenaBlock> own_;
  ArenaBlock* block_;
};

// Gives back what the calling thread holds and no call of it uses.
void releaseIdleWorkspace();

}  // namespace torchtrt::engine
