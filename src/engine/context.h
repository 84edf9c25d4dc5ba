// What one running call has for itself: workspace and operand pointers. Contexts wait in a pool between calls, so that
// in the steady state nothing is allocated; the pool keeps a bounded number of bounded total size. Private to this
// folder.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/device.h"
#include "engine/specialization.h"

namespace torchtrt::engine {

class Context {
 public:
  // Makes it fit for a specialization: workspace large enough, pointers to workspace and constants in place.
  void bind(std::shared_ptr<const Specialization> specialization, const device::Device& device);
  const std::shared_ptr<const Specialization>& bound() const {
    return bound_;
  }
  size_t workspaceBytes() const {
    return workspace_.bytes();
  }
  // Makes the system give the first 4 MiB of the workspace's pages now.
  void touchWorkspace();
  // Fills in the pointers that change with every call.
  void setCallPointers(std::span<const TensorView> inputs, std::span<void* const> outputs);
  void runAction(const Action& action, int threads) const;
  std::vector<void*>& outputPointers() {
    return outputs_;
  }
  const void* slotPointer(uint32_t slot) const {
    return pointers_[slot];
  }

 private:
  std::shared_ptr<const Specialization> bound_;
  device::Memory workspace_;
  std::vector<void*> pointers_;  // one per slot
  std::vector<void*> outputs_;
};

class ContextPool {
 public:
  ContextPool() {
    idle_.reserve(kMaxIdle);  // give() runs in destructors and must not allocate
  }
  std::unique_ptr<Context> take();
  void give(std::unique_ptr<Context> context);
  size_t idle() const;

 private:
  static constexpr size_t kMaxIdle = 16;
  static constexpr size_t kMaxIdleBytes = size_t{256} << 20;  // one context is kept whatever its size

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
  size_t idle_bytes_ = 0;
};

// A context for the length of a call; it goes back to the pool whether the call ends well or not.
class ContextLease {
 public:
  explicit ContextLease(ContextPool& pool) : pool_(pool), context_(pool.take()) {}
  ~ContextLease() {
    pool_.give(std::move(context_));
  }
  ContextLease(const ContextLease&) = delete;
  ContextLease& operator=(const ContextLease&) = delete;
  Context& operator*() const {
    return *context_;
  }

 private:
  ContextPool& pool_;
  std::unique_ptr<Context> context_;
};

}  // namespace torchtrt::engine
