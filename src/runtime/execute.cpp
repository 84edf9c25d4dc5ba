#include "runtime/execute.h"

#include <span>

#include <ATen/EmptyTensor.h>

#include "device/device.h"
#include "plan/plan.h"
#include "runtime/dtypes.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

// Views of the inputs of one call, which have to outlive them.
class InputViews {
 public:
  InputViews(std::vector<at::Tensor>& inputs, const Engine& engine) : tensors_(inputs) {
    views_.reserve(tensors_.size());
    for (size_t i = 0; i < tensors_.size(); ++i) {
      views_.push_back(view(i, engine));
    }
  }

  std::span<const engine::TensorView> span() const {
    return views_;
  }

 private:
  engine::TensorView view(size_t i, const Engine& engine) {
    at::Tensor& tensor = tensors_[i];
    if (!tensor.defined() || tensor.layout() != at::kStrided) {
      const std::string got = tensor.defined() ? c10::str(tensor.layout()) : "no tensor";
      throw EngineError(ErrorCode::kInputDType, described(i, engine) + " is not a dense tensor, got " + got, {},
                        "call .to_dense() on it");
    }
    if (!tensor.is_cpu() && !tensor.is_meta()) {
      throw EngineError(ErrorCode::kInputDevice,
                        described(i, engine) + " is on device " + tensor.device().str() + ", expected cpu", {},
                        "move it with .to(\"cpu\")");
    }
    const std::optional<DType> dtype = dtypeOf(tensor.scalar_type());
    if (!dtype) {
      throw EngineError(ErrorCode::kInputDType, described(i, engine) + " has dtype " +
                                                    c10::toString(tensor.scalar_type()) +
                                                    ", which no engine computes with");
    }
    // Lazy negation and zero tensors have no memory that says what they are.
    if (tensor.is_neg() || tensor._is_zerotensor()) {
      tensor = tensor.clone();
    }
    const void* data = tensor.is_meta() ? nullptr : tensor.const_data_ptr();
    return {*dtype, static_cast<int32_t>(tensor.dim()), tensor.sizes().data(), tensor.strides().data(), data};
  }

  static std::string described(size_t i, const Engine& engine) {
    const auto& bindings = engine.engine().inputs();
    const std::string name = i < bindings.size() ? " (\"" + bindings[i].name + "\")" : "";
    return "input " + std::to_string(i) + name + " of engine \"" + engine.name() + "\"";
  }

  std::vector<at::Tensor>& tensors_;
  std::vector<engine::TensorView> views_;
};

class OutputTensors final : public engine::OutputAllocator {
 public:
  explicit OutputTensors(size_t count) : tensors_(count) {}

  void* allocate(int index, DType dtype, std::span<const int64_t> dims) override {
    at::Tensor& tensor = tensors_[static_cast<size_t>(index)];
    if (exceedsMemory(dims, dtype)) {
      return nullptr;
    }
    try {
      // ATen's own allocator aligns to 64 bytes.
      tensor =
          at::detail::empty_cpu({dims.data(), dims.size()}, scalarTypeOf(dtype), /*pin_memory=*/false, std::nullopt);
    } catch (const c10::Error&) {
      return nullptr;  // the engine then says which output it was, and how large
    }
    return tensor.mutable_data_ptr();
  }

  std::vector<at::Tensor> take() {
    return std::move(tensors_);
  }

 private:
  // Linux promises more memory than there is and kills who uses it.
  static bool exceedsMemory(std::span<const int64_t> dims, DType dtype) {
    const uint64_t memory = device::cpu().properties().memory_bytes;
    return memory != 0 && plan::checkedBytes(dims, dtype) > memory;
  }

  std::vector<at::Tensor> tensors_;
};

}  // namespace

std::vector<at::Tensor> runEngine(std::vector<at::Tensor>& inputs, const Engine& engine) {
  const InputViews views(inputs, engine);
  OutputTensors outputs(engine.engine().outputs().size());
  engine.engine().enqueue(views.span(), outputs, callThreads());
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
    try {
      return runEngine(inputs, *engine);
    } catch (const EngineError& error) {
      if (engine->kept() == nullptr || !KeptSegment::helps(error)) {
        throw;
      }
      return engine->kept()->runInstead(inputs, error);
    }
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
  return engine.engine().profile(views.span(), static_cast<int>(calls), callThreads());
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

int64_t workspaceBytes(std::vector<at::Tensor> inputs, const Engine& engine) {
  return atBorder([&] {
    const InputViews views(inputs, engine);
    return static_cast<int64_t>(engine.engine().workspaceBytes(views.span()));
  });
}

}  // namespace torchtrt::runtime
