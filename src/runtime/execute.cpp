#include "runtime/execute.h"

#include <functional>
#include <span>

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>

#include "device/device.h"
#include "engine/calls/step_watch.h"
#include "engine/schedule/prepared_shapes.h"
#include "plan/plan.h"
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

  std::vector<at::Tensor> take() {
    return std::move(tensors_);
  }

 private:
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
  at::Device device_;
};

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

// The engine, or PyTorch for inputs that it was not made for.
std::vector<at::Tensor> runOrFallBack(std::vector<at::Tensor>& inputs, const Engine& engine) {
  try {
    return runEngine(inputs, engine);
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
  const DeviceScope scope(engine.device());
  const InputViews views(inputs, engine);
  OutputTensors outputs(engine.engine().outputs().size(), engine.device());
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
