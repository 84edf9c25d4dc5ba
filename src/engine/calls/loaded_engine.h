// The engine behind torchtrt/engine.h: a model, a cache of its schedules, a pool of contexts. Private to this
// folder and its tests.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/calls/context.h"
#include "engine/calls/faults.h"
#include "engine/calls/step_watch.h"
#include "engine/loading/model.h"
#include "engine/schedule/cache.h"
#include "torchtrt/engine.h"

namespace torchtrt::engine {

class LoadedEngine : public Engine {
 public:
  LoadedEngine(std::shared_ptr<const Model> model, const LoadOptions& options);
  // The process's last engine takes the workspace of the thread in which it dies with it.
  ~LoadedEngine() override;

  const std::string& name() const override {
    return model_->plan.name;
  }
  const std::vector<BindingInfo>& inputs() const override {
    return model_->inputs;
  }
  const std::vector<BindingInfo>& outputs() const override {
    return model_->outputs;
  }
  std::string device() const override;
  using Engine::enqueue;
  void enqueue(std::span<const TensorView> inputs, OutputAllocator& outputs, const CallOptions& options) const override;
  std::unique_ptr<BoundCall> bind(std::span<const TensorView> inputs, std::span<void* const> outputs,
                                  int threads) const override;
  bool isRealTime() const override;
  void discardFaults(void* stream) const override {
    faults_.discard({stream});
  }
  std::vector<std::vector<int64_t>> outputShapes(std::span<const TensorView> inputs) const override;
  std::vector<StepProfile> profile(std::span<const TensorView> inputs, int calls, int threads) const override;
  std::string inspect() const override;
  std::string schedule(std::span<const TensorView> inputs, int threads) const override;
  size_t memoryBytes() const override {
    return model_->weight_bytes + model_->packed_bytes;
  }
  size_t sharedBytes() const override {
    return model_->shared_bytes;
  }
  size_t workspaceBytes(std::span<const TensorView> inputs) const override;
  bool restoresWeight(size_t index) const override;
  void restoreWeight(size_t index, std::span<std::byte> to, int threads) const override;

  // Does what a first call with inputs of the optimum's shapes, row-major, would do but run kernels. On a device that
  // is not the host it runs them, too, on zeros. A fault is left to that call.
  void prepare(int threads) const;

  // Returns the schedule that a call with these inputs runs, for tests.
  std::shared_ptr<const Schedule> scheduleFor(std::span<const TensorView> inputs, int threads) const;
  const Model& model() const {
    return *model_;
  }
  const ScheduleCache& cache() const {
    return cache_;
  }
  const ContextPool& contexts() const {
    return pool_;
  }
  std::vector<std::string> implementations() const;  // of each step

 private:
  using Way = ContextLease::Way;
  Way wayOf(const CallOptions& options) const;
  ContextLease lease(std::span<const TensorView> inputs, Way way) const;
  void bind(ContextLease& lease, std::span<const TensorView> inputs, int threads) const;
  // Reserves the workspace of the bound schedule. This runs behind all checks: a refused call gives no work to its
  // stream.
  void reserveWorkspace(ContextLease& lease) const;
  // Runs calls on zeros until the device replays them. Libraries of GPUs load a kernel's code when they first start it,
  // which takes a hundred times as long as a call.
  void rehearse(int threads) const;
  // Everything up to the first kernel: shapes, memory, pointers.
  void begin(ContextLease& lease, std::span<const TensorView> inputs, OutputAllocator& outputs, Way way) const;
  // Throws where the call would have to wait for its stream.
  void checkCapture(const Schedule& shapes) const;
  void* allocate(OutputAllocator& outputs, size_t index, const OutputShape& shape) const;
  // The same, or an input's memory for an output that updates it.
  void* placeFor(OutputAllocator& outputs, size_t index, const OutputShape& shape) const;
  // Runs the actions, as a recording if there is one.
  void run(Context& context, Way way) const;
  void runWatched(const Context& context, Way way, StepWatch& watch) const;
  // Gives the outputs whose length shows when all has run.
  void giveCuts(const Context& context, OutputAllocator& outputs, device::Stream stream) const;

  std::shared_ptr<const Model> model_;
  std::shared_ptr<device::MemorySource> memory_;
  mutable ScheduleCache cache_;
  mutable Faults faults_;
  mutable ContextPool pool_;
  mutable std::atomic<bool> has_other_streams_ = false;  // calls ran in other streams than the default one
};

// The engine on a device that is at hand; Engine::load finds the one that its options name.
std::shared_ptr<const LoadedEngine> loadOn(const device::Device& device, std::span<const std::byte> plan,
                                           std::shared_ptr<const void> owner, std::vector<ExternalWeight> external,
                                           const LoadOptions& options);

}  // namespace torchtrt::engine
