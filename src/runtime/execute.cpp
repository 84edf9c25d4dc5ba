#include "runtime/execute.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>

#include "base/align.h"
#include "device/device.h"
#include "engine/calls/step_watch.h"
#include "engine/schedule/prepared_shapes.h"
#include "plan/plan.h"
#include "runtime/apart.h"
#include "runtime/dtypes.h"
#include "runtime/input_views.h"
#include "runtime/recording/recorder.h"
#include "runtime/step_events.h"
#include "runtime/threads.h"
#include "runtime/torch_device.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

class OutputTensors final : public engine::OutputAllocator {
 public:
  OutputTensors(size_t count, const at::Device& device) : tensors_(count), device_(device) {}

  void* allocate(int index, DType dtype, std::span<const int64_t> dims) override {
    at::Tensor& tensor = tensors_[static_cast<size_t>(index)];
    if (device_.is_cpu() && exceedsMemory(dims, dtype)) {
      return nullptr;
    }
    try {
      tensor = allocate({dims.data(), dims.size()}, scalarTypeOf(dtype));
    } catch (const c10::Error&) {
      return nullptr;  // the engine then says which output it was, and how large
    }
    return tensor.mutable_data_ptr();
  }

  // The engine may write this output over that input, which is a tensor that it was given.
  void letUpdate(size_t output, size_t input, const at::Tensor& tensor) {
    updates_.resize(tensors_.size());
    updates_[output] = {static_cast<int>(input), tensor};
  }

  void* allocateOver(int index, int input) override {
    const auto output = static_cast<size_t>(index);
    if (output >= updates_.size() || updates_[output].input != input || !isAligned(updates_[output].tensor)) {
      return nullptr;
    }
    tensors_[output] = updates_[output].tensor;
    return tensors_[output].mutable_data_ptr();
  }

  std::vector<at::Tensor> take() {
    return std::move(tensors_);
  }

 private:
  struct Updated {
    int input = -1;
    at::Tensor tensor;
  };

  static bool isAligned(const at::Tensor& tensor) {
    return reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % kAlignment == 0;
  }

  // ATen's own allocators align to 64 bytes and more.
  at::Tensor allocate(at::IntArrayRef dims, at::ScalarType type) const {
    if (device_.is_cpu()) {
      return at::detail::empty_cpu(dims, type, /*pin_memory=*/false, std::nullopt);
    }
    return at::empty(dims, at::TensorOptions().dtype(type).device(device_));
  }

  // Linux promises more memory than there is and kills the process that uses it.
  static bool exceedsMemory(std::span<const int64_t> dims, DType dtype) {
    const uint64_t memory = device::cpu().properties().memory_bytes;
    return memory != 0 && plan::checkedBytes(dims, dtype) > memory;
  }

  std::vector<at::Tensor> tensors_;
  std::vector<Updated> updates_;  // by output; empty if there are none
  at::Device device_;
};

// Results that go into the memory of inputs, by number.
struct Updates {
  const std::vector<int64_t>& outputs;
  const std::vector<int64_t>& inputs;

  size_t count() const {
    return outputs.size();
  }
  size_t output(size_t i) const {
    return static_cast<size_t>(outputs[i]);
  }
  size_t input(size_t i) const {
    return static_cast<size_t>(inputs[i]);
  }
};

// Throws EngineError for numbers that a damaged file may hold.
void check(const Updates& updates, size_t given, const Engine& engine) {
  const auto within = [](const std::vector<int64_t>& numbers, size_t count) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t number) { return number >= 0 && number < static_cast<int64_t>(count); });
  };
  std::vector<int64_t> targets = updates.inputs, sources = updates.outputs;
  std::sort(targets.begin(), targets.end());
  std::sort(sources.begin(), sources.end());
  const bool repeats = std::adjacent_find(targets.begin(), targets.end()) != targets.end() ||
                       std::adjacent_find(sources.begin(), sources.end()) != sources.end();
  if (updates.outputs.size() != updates.inputs.size() || repeats || !within(updates.inputs, given) ||
      !within(updates.outputs, engine.engine().outputs().size())) {
    throw EngineError(ErrorCode::kPlanCorrupt,
                      "the call of engine \"" + engine.name() + "\" updates tensors that it does not have", {},
                      "compile the module again");
  }
}

// On the thread that runs the call, which what is counted and watched belongs to.
void enqueue(const Engine& engine, const InputViews& views, OutputTensors& outputs,
             const engine::CallOptions& options) {
  const uint64_t before = engine::preparedShapes();
  if (StepEvents::areWatched()) {
    StepEvents events(engine.name());
    const engine::StepWatchScope scope(events);
    engine.engine().enqueue(views.span(), outputs, options);
  } else {
    engine.engine().enqueue(views.span(), outputs, options);
  }
  if (const uint64_t prepared = engine::preparedShapes() - before; prepared != 0) {
    count(engine.counts().new_shapes, prepared);
  }
}

bool updatesLieApart(const std::vector<at::Tensor>& inputs, const Updates& updates) {
  std::vector<at::Tensor> written, others;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_written =
        std::find(updates.inputs.begin(), updates.inputs.end(), static_cast<int64_t>(i)) != updates.inputs.end();
    (is_written ? written : others).push_back(inputs[i]);
  }
  return lieApart(written, others);
}

std::vector<at::Tensor> runWith(std::vector<at::Tensor>& inputs, const Engine& engine, const Updates* updates) {
  const DeviceScope scope(engine.device());
  const InputViews views(inputs, engine);
  OutputTensors outputs(engine.engine().outputs().size(), engine.device());
  for (size_t i = 0; updates != nullptr && i < updates->count(); ++i) {
    outputs.letUpdate(updates->output(i), updates->input(i), inputs[updates->input(i)]);
  }
  CountedCall counted(engine.counts());
  if (!engine.device().is_cpu()) {
    enqueue(engine, views, outputs, engine::CallOptions{1, scope.stream()});
  } else {
    const auto call = [&](int threads) { enqueue(engine, views, outputs, engine::CallOptions{threads, nullptr}); };
    onTeam(std::ref(call));  // by reference: a copy would be allocated
  }
  counted.done();
  return outputs.take();
}

// The engine, or PyTorch for inputs that it was not made for.
std::vector<at::Tensor> runOrFallBack(std::vector<at::Tensor>& inputs, const Engine& engine,
                                      const Updates* updates = nullptr) {
  try {
    return runWith(inputs, engine, updates);
  } catch (const EngineError& error) {
    if (engine.kept() == nullptr || !KeptSegment::helps(error)) {
      count(engine.counts().errors);
      throw;
    }
    count(engine.counts().fallbacks);
    return engine.kept()->runInstead(inputs, error);
  }
}

}  // namespace

std::vector<at::Tensor> runEngine(std::vector<at::Tensor>& inputs, const Engine& engine) {
  return runWith(inputs, engine, nullptr);
}

[[noreturn]] void rethrowAtBorder() {
  try {
    throw;
  } catch (const Error& error) {
    throw TorchEngineError(error.code(), error.what());
  }
}

std::vector<at::Tensor> executeEngine(std::vector<at::Tensor> inputs, const c10::intrusive_ptr<Engine>& engine) {
  return atBorder([&] {
    return recording::isOn()
               ? recording::recorded(inputs, engine,
                                     [&](std::vector<at::Tensor>& given) { return runOrFallBack(given, *engine); })
               : runOrFallBack(inputs, *engine);
  });
}

std::vector<at::Tensor> updateByEngine(std::vector<at::Tensor> inputs, const c10::intrusive_ptr<Engine>& engine,
                                       const std::vector<int64_t>& outputs, const std::vector<int64_t>& updated) {
  return atBorder([&] {
    const Updates updates{outputs, updated};
    check(updates, inputs.size(), *engine);
    const std::vector<at::Tensor> targets = inputs;
    const bool lie_apart = updatesLieApart(inputs, updates);
    if (!lie_apart && engine->kept() == nullptr) {
      throw EngineError(ErrorCode::kInputDevice,
                        "a tensor that engine \"" + engine->name() +
                            "\" changes shares memory with another input, or has one place for several elements",
                        {}, "pass tensors that lie apart, or compile without require_full_compilation");
    }
    // A record needs the inputs as they were, so a call that may be recorded changes them at its end. So does one whose
    // inputs overlap, as the engine reads them in an order of its own.
    std::vector<at::Tensor> results =
        recording::isOn() || !lie_apart ? executeEngine(inputs, engine) : runOrFallBack(inputs, *engine, &updates);
    std::vector<bool> is_update(results.size(), false);
    for (size_t i = 0; i < updates.count(); ++i) {
      is_update[updates.output(i)] = true;
      const at::Tensor& target = targets[updates.input(i)];
      if (!results[updates.output(i)].is_same(target)) {
        target.copy_(results[updates.output(i)]);
      }
    }
    std::vector<at::Tensor> others;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!is_update[i]) {
        others.push_back(std::move(results[i]));
      }
    }
    return others;
  });
}

std::vector<at::Tensor> keptConstants(const c10::intrusive_ptr<Engine>& engine) {
  return atBorder([&] {
    if (engine->kept() == nullptr) {
      throw EngineError(ErrorCode::kPlanCorrupt, "engine \"" + engine->name() + "\" keeps nothing for other calls", {},
                        "compile the module again");
    }
    count(engine->counts().fallbacks);
    return engine->kept()->constantsForOtherCall();
  });
}

std::vector<at::Tensor> executeEngineMeta(std::vector<at::Tensor> inputs, const c10::intrusive_ptr<Engine>& engine) {
  return atBorder([&] {
    const InputViews views(inputs, *engine);
    const std::vector<std::vector<int64_t>> shapes = engine->engine().outputShapes(views.span());
    std::vector<at::Tensor> outputs;
    outputs.reserve(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      outputs.emplace_back(at::detail::empty_meta(shapes[i], scalarTypeOf(engine->engine().outputs()[i].dtype)));
    }
    return outputs;
  });
}

std::vector<engine::StepProfile> profileSteps(std::vector<at::Tensor> inputs, const Engine& engine, int64_t calls) {
  const InputViews views(inputs, engine);
  synchronize(engine.device());  // the caller's stream, which may still compute the inputs
  const DeviceScope scope(engine.device(), DeviceScope::Stream::kDefault);
  std::vector<engine::StepProfile> steps;
  onTeam([&](int threads) { steps = engine.engine().profile(views.span(), static_cast<int>(calls), threads); });
  return steps;
}

std::vector<StepTuple> profileEngine(std::vector<at::Tensor> inputs, const Engine& engine, int64_t calls) {
  return atBorder([&] {
    std::vector<StepTuple> steps;
    for (const engine::StepProfile& step : profileSteps(std::move(inputs), engine, calls)) {
      steps.emplace_back(step.name, step.family, step.implementation, torchtrt::toString(step.location),
                         step.microseconds);
    }
    return steps;
  });
}

std::string scheduleText(std::vector<at::Tensor> inputs, const Engine& engine) {
  const InputViews views(inputs, engine);
  std::string text;
  onTeam([&](int threads) { text = engine.engine().schedule(views.span(), threads); });
  return text;
}

int64_t workspaceBytes(std::vector<at::Tensor> inputs, const Engine& engine) {
  return atBorder([&] {
    const InputViews views(inputs, engine);
    return static_cast<int64_t>(engine.engine().workspaceBytes(views.span()));
  });
}

}  // namespace torchtrt::runtime
