// A running call's own state: operand pointers, the workspace that some of them lead into, and a recording of its work.
// Contexts wait in a pool between calls, so that in the steady state nothing is allocated; the pool keeps a bounded
// number. Private to this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "device/faults.h"
#include "engine/calls/arena.h"
#include "engine/calls/replay.h"
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
  // All pointers that kernels get in this call, one per slot.
  std::span<void* const> pointers() const {
    return pointers_;
  }
  // The stream of its last call, to which a recording belongs.
  device::Stream stream() const {
    return stream_;
  }
  void setStream(device::Stream stream) {
    stream_ = stream;
  }
  Replay& replay() {
    return replay_;
  }
  // Steps report faults that show later to these words; null where there are none of that kind. A recording holds them.
  void setFaults(std::shared_ptr<device::FaultWords> faults);
  device::FaultWords* faults() const {
    return faults_.get();
  }

 private:
  std::shared_ptr<const Schedule> bound_;
  void* workspace_ = nullptr;    // of the call before, maybe gone since: compared, not read
  std::vector<void*> pointers_;  // one per slot
  std::vector<void*> outputs_;
  device::Stream stream_;
  std::shared_ptr<device::FaultWords> faults_;
  Replay replay_;
};

// Runs the actions of a context that is ready, or one of them. EngineErrors get the location of their step.
void runLocated(const Model& model, const Context& context, int threads, device::Stream stream);
void runLocated(const Model& model, const Context& context, size_t action, int threads, device::Stream stream);

class ContextPool {
 public:
  ContextPool() {
    idle_.reserve(kMaxIdle);  // give() runs in destructors and must not allocate
  }
  // One whose pointers are those of a workspace at `base`, if there is one, else the one given back last.
  std::unique_ptr<Context> take(const void* base);
  // On a device with streams, takes the context that a call in this stream with such inputs gave back last. While there
  // is room, it makes a new one rather than take another's, which may have a recording; then it takes the one that has
  // waited longest.
  std::unique_ptr<Context> take(device::Stream stream, std::span<const TensorView> inputs, int threads);
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
  // The way a call runs.
  struct Way {
    int threads = 1;
    device::Stream stream;
    bool is_captured = false;  // the caller records the stream
  };
  ContextLease(ContextPool& pool, const device::Device& device, std::span<const TensorView> inputs, Way way,
               std::shared_ptr<device::MemorySource> source)
      : pool_(pool),
        workspace_(device, way.stream, std::move(source)),
        context_(device.isHost() ? pool.take(workspace_.data()) : pool.take(ownerOf(way), inputs, way.threads)) {
    context_->setStream(ownerOf(way));
  }
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
  // Calls that a caller records share no context with others of their stream: they report faults elsewhere.
  static device::Stream ownerOf(Way way) {
    static char captured;
    return way.is_captured ? device::Stream{&captured} : way.stream;
  }

  ContextPool& pool_;
  WorkspaceLease workspace_;
  std::unique_ptr<Context> context_;
};

}  // namespace torchtrt::engine
