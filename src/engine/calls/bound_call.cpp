#include "engine/calls/bound_call.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/align.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "engine/calls/context.h"
#include "engine/calls/empty_inputs.h"
#include "kernels/real_time.h"

namespace torchtrt::engine {

namespace {

[[noreturn]] void refuse(const Model& model, const std::string& reason, const std::string& advice) {
  throw EngineError(ErrorCode::kNotRealTime, "a call of engine '" + model.plan.name + "' cannot be bound: " + reason,
                    {}, advice);
}

void checkSteps(const Model& model) {
  const auto found = std::find_if(model.steps.begin(), model.steps.end(),
                                  [](const LoadedStep& step) { return kernels::mayAllocate(*step.kernel); });
  if (found != model.steps.end()) {
    const plan::Step& step = model.plan.steps[static_cast<size_t>(found - model.steps.begin())];
    refuse(model,
           "step '" + step.name + "' (" + step.family + ") runs by " + found->implementation +
               ", which may allocate memory or wait in a call",
           "load the engine with LoadOptions::real_time");
  }
}

// Memory that a call reads or writes.
struct Range {
  std::string name;
  uintptr_t begin, end;

  bool meets(const Range& other) const {
    return begin < other.end && other.begin < end;
  }
};

// All that lies between the first element and the last one.
Range rangeOf(const std::string& name, const TensorView& view) {
  const auto begin = reinterpret_cast<uintptr_t>(view.data);
  int64_t elements = 1;
  for (int32_t axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] == 0) {
      return {name, begin, begin};
    }
    elements += (view.dims[axis] - 1) * view.strides[axis];
  }
  return {name, begin, begin + static_cast<size_t>(elements) * sizeOf(view.dtype)};
}

std::vector<Range> inputRanges(const Model& model, const Schedule& shapes, std::span<const TensorView> inputs) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input '" + model.plan.inputs[i].name + "'";
    if (inputs[i].data == nullptr && shapes.input_bytes[i] != 0) {
      refuse(model, name + " has no memory", "pass tensors with storage");
    }
    ranges.push_back(rangeOf(name, inputs[i]));
  }
  return ranges;
}

// None has a size that data decide: steps that compute such are not for real time. `used` is what the outputs must
// leave alone.
void checkOutputs(const Model& model, const Schedule& shapes, std::span<void* const> outputs, std::vector<Range> used) {
  if (outputs.size() != shapes.outputs.size()) {
    refuse(model,
           "expected memory for " + std::to_string(shapes.outputs.size()) + " outputs, got " +
               std::to_string(outputs.size()),
           "give memory for each output of the engine");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputShape& shape = shapes.outputs[i];
    const auto begin = reinterpret_cast<uintptr_t>(outputs[i]);
    const Range range{"output '" + model.plan.outputs[i].name + "'", begin, begin + shape.bytes};
    if (shape.bytes != 0 && (begin == 0 || begin % kAlignment != 0)) {
      refuse(
          model,
          "the memory of " + range.name + " does not start at a multiple of " + std::to_string(kAlignment) + " bytes",
          "give memory of its own to each output");
    }
    const auto met = std::find_if(used.begin(), used.end(), [&](const Range& other) { return range.meets(other); });
    if (met != used.end()) {
      refuse(model, range.name + " shares memory with " + met->name,
             "give memory of its own to each output; two bound calls that take turns hand a state on");
    }
    used.push_back(range);
  }
}

class BoundCallOfEngine final : public BoundCall {
 public:
  BoundCallOfEngine(std::shared_ptr<const Model> model, ScheduleCache& cache, std::span<const TensorView> inputs,
                    std::span<void* const> outputs, int threads)
      : model_(std::move(model)), filled_(*model_, inputs), threads_(threads) {
    const std::span<const TensorView> views = filled_.span();
    context_.bind(cache.get(*model_, views, threads_));
    const Schedule& shapes = *context_.bound();
    checkOutputs(*model_, shapes, outputs, inputRanges(*model_, shapes, views));
    if (shapes.workspace_bytes != 0) {
      workspace_ = model_->device->allocate(shapes.workspace_bytes, "the workspace of a bound call");
      context_.setWorkspace(workspace_.data());
    }
    context_.setCallPointers(views, outputs);
    prepareThread();
  }

  void run() override {
    if (is_running_.exchange(true, std::memory_order_acquire)) {
      throw EngineError(ErrorCode::kBoundCallInUse,
                        "engine '" + model_->plan.name + "': two threads run one bound call at a time", {},
                        "bind a call for each thread: they share the engine and its weights");
    }
    const struct End {
      std::atomic<bool>& is_running;
      ~End() {
        is_running.store(false, std::memory_order_release);
      }
    } end{is_running_};
    const kernels::ThreadScope scope(threads_);
    runLocated(*model_, context_, threads_, {});
  }

  void prepareThread() override {
    run();
    kernels::keepThreadMemory(threads_);
  }

 private:
  std::shared_ptr<const Model> model_;
  FilledInputs filled_;  // has the memory of inputs that come empty; its views are for the constructor alone
  int threads_;
  Context context_;
  device::Memory workspace_;
  std::atomic<bool> is_running_ = false;
};

}  // namespace

std::unique_ptr<BoundCall> bindCall(const std::shared_ptr<const Model>& model, ScheduleCache& cache,
                                    std::span<const TensorView> inputs, std::span<void* const> outputs, int threads) {
  if (!model->device->isHost()) {
    refuse(*model, "it runs on a GPU, whose driver allocates memory and waits", "bind calls of engines on the CPU");
  }
  checkSteps(*model);
  try {
    return std::make_unique<BoundCallOfEngine>(model, cache, inputs, outputs, threads);
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kOutOfMemory, "engine '" + model->plan.name + "': no memory to bind a call", {},
                      "free some memory, or use smaller inputs or a smaller batch");
  }
}

}  // namespace torchtrt::engine
