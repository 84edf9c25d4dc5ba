// A running call's own state: operand pointers, and the workspace that some of them lead into.
// Contexts wait in a pool between calls, so that in the steady state nothing is allocated; the pool keeps a bounded
// number. Private to this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engine/calls/arena.h"
#include "engine/schedule/schedule.h"

namespace torchtrt::engine {

class Context {
 public:
  // Makes it fit for a schedule: pointers to constants in place, those to the workspace to come.
  void bind(std::shared_ptr<const Schedule> schedule);
  const std::shared_ptr<const Schedule>& bound() const {
    return bound_;
  }
  // Fills in the pointers to the workspace, which lies at `base` in this call. Nothing to do where it lay there before.
  void setWorkspace(void* base);
  const void* workspace() const {
    return workspace_;
  }
  // Fills in the pointers that change with every call.
  void setCallPointers(std::span<const TensorView> inputs, std::span<void* const> outputs);
  void runAction(const Action& action, int threads, device::Stream stream) const;
  std::vector<void*>& outputPointers() {
    return outputs_;
  }
  const void* slotPointer(uint32_t slot) const {
    return pointers_[slot];
  }

 private:
  std::shared_ptr<const Schedule> bound_;
  void* workspace_ = nullptr;    // of the call before, maybe gone since: compared, not read
  std::vector<void*> pointers_;  // one per slot
  std::vector<void*> outputs_;
};

class ContextPool {
 public:
  ContextPool() {
    idle_.reserve(kMaxIdle);  // give() runs in destructors and must not allocate
  }
  // One whose pointers are those of a workspace at `base`, if there is one, else the one given back last.
  std::unique_ptr<Context> take(const void* base);
  void give(std::unique_ptr<Context> context);
  size_t idle() const;

 private:
  static constexpr size_t kMaxIdle = 16;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
};

// A context and a workspace for the length of a call; the context goes back to the pool whether the call
// ends well or not.
class ContextLease {
 public:
  ContextLease(ContextPool& pool, const device::Device& device, device::Stream stream = {},
               std::shared_ptr<device::MemorySource> source = nullptr)
      : pool_(pool), workspace_(device, stream, std::move(source)), context_(pool.take(workspace_.data())) {}
  ~ContextLease() {
    pool_.give(std::move(context_));
  }
  ContextLease(const ContextLease&) = delete;
  ContextLease& operator=(const ContextLease&) = delete;
  Context& context() const {
    return *context_;
  }
  WorkspaceLease& workspace() {
    return workspace_;
  }

 private:
  ContextPool& pool_;
  WorkspaceLease workspace_;
  std::unique_ptr<Context> context_;
};

}  // namespace torchtrt::engine
