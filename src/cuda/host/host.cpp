#include "cuda/host/host.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/align.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

namespace {

// The bytes from the first element of a tensor to the end of its last.
size_t spanOf(const kernels::TensorDesc& desc) {
  int64_t last = 0;
  for (size_t axis = 0; axis < desc.dims.size(); ++axis) {
    if (desc.dims[axis] == 0) {
      return 0;
    }
    last += (desc.dims[axis] - 1) * desc.strides[axis];
  }
  return static_cast<size_t>(last + 1) * sizeOf(desc.dtype);
}

bool hasGaps(const kernels::TensorDesc& desc) {
  return spanOf(desc) != static_cast<size_t>(countOf(desc.dims)) * sizeOf(desc.dtype);
}

// A constant that the CPU's kernel goes on reading, in the host's memory.
struct Constants {
  std::vector<device::Memory> memory;  // by input; empty where none is read
};

class HostPrepared final : public kernels::Prepared {
 public:
  HostPrepared(const CudaDevice& device, std::shared_ptr<const Constants> constants, std::vector<bool> is_constant,
               const kernels::ShapeSet& shapes, std::unique_ptr<kernels::Prepared> inner)
      : device_(device),
        constants_(std::move(constants)),
        is_constant_(std::move(is_constant)),
        inputs_(shapes.inputs),
        outputs_(shapes.outputs),
        threads_(shapes.threads),
        inner_(std::move(inner)) {}

  bool isRecordable() const override {
    return false;
  }

  void run(const kernels::RunArgs& args) const override {
    std::vector<device::Memory> memory;
    std::vector<const void*> inputs(inputs_.size(), nullptr);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (is_constant_[i]) {
        inputs[i] = constants_->memory[i].data();
      } else if (args.inputs[i] != nullptr) {
        inputs[i] = take(memory, spanOf(inputs_[i]));
        device_.copyOut(const_cast<void*>(inputs[i]), args.inputs[i], spanOf(inputs_[i]), args.stream);
      }
    }
    std::vector<void*> outputs(outputs_.size(), nullptr);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      outputs[i] = take(memory, spanOf(outputs_[i]));
      if (hasGaps(outputs_[i])) {
        device_.copyOut(outputs[i], args.outputs[i], spanOf(outputs_[i]), args.stream);
      }
    }
    void* const scratch = take(memory, inner_->scratchBytes());
    inner_->run({inputs.data(), outputs.data(), scratch, threads_});
    for (size_t i = 0; i < outputs_.size(); ++i) {
      device_.copyIn(args.outputs[i], outputs[i], spanOf(outputs_[i]), args.stream);
    }
    device_.wait(args.stream);
  }

 private:
  static void* take(std::vector<device::Memory>& memory, size_t bytes) {
    memory.push_back(device::cpu().allocate(bytes, "a step of a GPU's engine that runs on the host"));
    return memory.back().data();
  }

  const CudaDevice& device_;
  std::shared_ptr<const Constants> constants_;
  std::vector<bool> is_constant_;
  std::vector<kernels::TensorDesc> inputs_, outputs_;
  int threads_;
  std::unique_ptr<kernels::Prepared> inner_;
};

class HostKernel final : public kernels::Kernel {
 public:
  explicit HostKernel(const kernels::Problem& problem)
      : device_(deviceOf(problem.device)), threads_(device::cpu().properties().cores) {
    kernels::Problem on_host = problem;
    on_host.device = nullptr;
    on_host.threads = threads_;
    inner_ = kernels::createKernel(on_host).kernel;
    auto constants = std::make_shared<Constants>();
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      const kernels::Operand& input = problem.inputs[i];
      is_constant_.push_back(input.constant != nullptr);
      constants->memory.emplace_back();
      if (input.constant != nullptr && inner_->needsConstant(static_cast<int>(i))) {
        const size_t bytes = static_cast<size_t>(countOf(input.dims)) * sizeOf(input.dtype);
        constants->memory.back() = device::cpu().allocate(bytes, "constants of a step that runs on the host");
        std::memcpy(constants->memory.back().data(), input.constant, bytes);
      }
    }
    constants_ = std::move(constants);
  }

  std::unique_ptr<kernels::Prepared> prepare(const kernels::ShapeSet& shapes) const override {
    kernels::ShapeSet on_host = shapes;
    on_host.threads = threads_;
    return std::make_unique<HostPrepared>(device_, constants_, is_constant_, on_host, inner_->prepare(on_host));
  }
  bool needsConstant(int input) const override {
    return !is_constant_[static_cast<size_t>(input)];
  }
  size_t packedBytes() const override {
    return inner_->packedBytes();
  }
  bool acceptsStrides(int input, const kernels::TensorDesc& desc) const override {
    return inner_->acceptsStrides(input, desc);
  }

 private:
  const CudaDevice& device_;
  int threads_;
  std::unique_ptr<kernels::Kernel> inner_;
  std::vector<bool> is_constant_;
  std::shared_ptr<const Constants> constants_;
};

}  // namespace

kernels::CreateResult createHost(const kernels::Problem& problem) {
  return std::make_unique<HostKernel>(problem);
}

}  // namespace torchtrt::cuda
