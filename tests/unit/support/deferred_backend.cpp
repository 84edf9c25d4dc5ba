#include "support/deferred_backend.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "cpu/backend.h"
#include "cpu/threads/parallel.h"
#include "kernels/restores.h"

namespace torchtrt::testing {

namespace {

using kernels::CreateResult;
using kernels::Implementation;
using kernels::Problem;

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

// A kernel of the CPU, as its work holds it: work outlives the engine that gave it.
struct Inner {
  std::shared_ptr<const kernels::Kernel> kernel;
  std::unique_ptr<kernels::Prepared> prepared;
};

class DeferredPrepared final : public kernels::Prepared {
 public:
  DeferredPrepared(const DeferredDevice& device, std::string name, const kernels::ShapeSet& shapes,
                   std::shared_ptr<const Inner> inner)
      : device_(device), name_(std::move(name)), inner_(std::move(inner)) {
    for (const kernels::TensorDesc& desc : shapes.inputs) {
      inputs_.push_back(spanOf(desc));
    }
    for (const kernels::TensorDesc& desc : shapes.outputs) {
      outputs_.push_back(spanOf(desc));
    }
  }

  void run(const kernels::RunArgs& args) const override {
    DeferredDevice::Work work;
    work.name = name_;
    std::vector<const void*> inputs(args.inputs, args.inputs + inputs_.size());
    std::vector<void*> outputs(args.outputs, args.outputs + outputs_.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      work.reads.push_back({inputs[i], inputs[i] == nullptr ? 0 : inputs_[i]});
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      work.writes.push_back({outputs[i], outputs_[i]});
    }
    work.writes.push_back({args.scratch, scratchBytes()});
    work.run = [inner = inner_, inputs = std::move(inputs), outputs = std::move(outputs), args] {
      const kernels::ThreadScope scope(args.threads);
      inner->prepared->run({inputs.data(), outputs.data(), args.scratch, args.threads, {}});
    };
    work.report = DeferredDevice::reporter();
    device_.give(args.stream, std::move(work));
  }
  size_t scratchBytes() const override {
    return inner_->prepared->scratchBytes();
  }
  size_t heldBytes() const override {
    return inner_->prepared->heldBytes();
  }

 private:
  const DeferredDevice& device_;
  std::string name_;
  std::vector<size_t> inputs_, outputs_;  // in bytes
  std::shared_ptr<const Inner> inner_;
};

class DeferredKernel final : public kernels::Kernel, public kernels::RestoresConstants {
 public:
  DeferredKernel(const Problem& problem, std::unique_ptr<kernels::Kernel> inner)
      : device_(dynamic_cast<const DeferredDevice&>(*problem.device)),
        name_(problem.family),
        inner_(std::move(inner)) {}

  std::unique_ptr<kernels::Prepared> prepare(const kernels::ShapeSet& shapes) const override {
    auto inner = std::make_shared<Inner>();
    inner->kernel = inner_;
    inner->prepared = inner_->prepare(shapes);
    return std::make_unique<DeferredPrepared>(device_, name_, shapes, std::move(inner));
  }
  bool needsConstant(int input) const override {
    return inner_->needsConstant(input);
  }
  size_t packedBytes() const override {
    return inner_->packedBytes();
  }
  bool acceptsStrides(int input, const kernels::TensorDesc& desc) const override {
    return inner_->acceptsStrides(input, desc);
  }
  bool restores(int input) const override {
    const auto* const restoring = dynamic_cast<const kernels::RestoresConstants*>(inner_.get());
    return restoring != nullptr && restoring->restores(input);
  }
  void restore(int input, void* to, int threads) const override {
    dynamic_cast<const kernels::RestoresConstants&>(*inner_).restore(input, to, threads);
  }

 private:
  const DeferredDevice& device_;
  std::string name_;
  std::shared_ptr<const kernels::Kernel> inner_;
};

CreateResult wrapped(const Problem& problem, CreateResult result) {
  if (std::holds_alternative<Refusal>(result)) {
    return result;
  }
  return std::make_unique<DeferredKernel>(problem, std::move(std::get<std::unique_ptr<kernels::Kernel>>(result)));
}

Problem onCpu(Problem problem) {
  problem.device = nullptr;
  return problem;
}

// All implementations of the CPU, family by family.
const std::vector<const Implementation*>& implementationsOfCpu() {
  static const std::vector<const Implementation*> all = [] {
    std::vector<const Implementation*> found;
    for (const kernels::Family& family : kernels::cpuBackend().families()) {
      for (const Implementation& each : family.implementations) {
        found.push_back(&each);
      }
    }
    return found;
  }();
  return all;
}

// A function for each of them, since an implementation is a plain function.
constexpr size_t kMost = 256;

template <size_t kIndex>
CreateResult createThat(const Problem& problem) {
  return wrapped(problem, implementationsOfCpu()[kIndex]->create(onCpu(problem)));
}

template <size_t... kIndices>
constexpr auto functionsFor(std::index_sequence<kIndices...>) {
  return std::array{&createThat<kIndices>...};
}

constexpr auto kFunctions = functionsFor(std::make_index_sequence<kMost>());

const std::vector<kernels::Family>& families() {
  static const std::vector<kernels::Family> all = [] {
    std::vector<kernels::Family> wrapped = kernels::cpuBackend().families();
    size_t index = 0;
    for (kernels::Family& family : wrapped) {
      for (Implementation& each : family.implementations) {
        each.create = kFunctions.at(index++);
      }
    }
    return wrapped;
  }();
  return all;
}

class OtherForm final : public kernels::OtherForm {
 public:
  OtherForm(const Problem& problem, std::unique_ptr<kernels::OtherForm> inner)
      : problem_(problem), inner_(std::move(inner)) {}
  CreateResult create(const Implementation& implementation) override {
    const auto index = static_cast<size_t>(std::find(kFunctions.begin(), kFunctions.end(), implementation.create) -
                                           kFunctions.begin());
    Implementation inner = implementation;  // with the caller's changes, as to its rule of thumb
    inner.create = implementationsOfCpu().at(index)->create;
    return wrapped(problem_, inner_->create(inner));
  }

 private:
  Problem problem_;
  std::unique_ptr<kernels::OtherForm> inner_;
};

std::unique_ptr<kernels::OtherForm> otherForm(const Problem& problem) {
  auto inner = kernels::cpuBackend().otherForm(onCpu(problem));
  return inner == nullptr ? nullptr : std::make_unique<OtherForm>(problem, std::move(inner));
}

const kernels::Backend kDeferred = {
    .name = "deferred",
    .families = families,
    .devices = [](std::string&) { return 1; },
    .device = [](int) -> const device::Device& { return deferredDevice(); },
    .machineKey = [](const device::Device&,
                     int threads) { return "deferred, " + kernels::cpuBackend().machineKey(device::cpu(), threads); },
    .measureLimits = [](const device::Device&, int) { return kernels::Limits{}; },
    .otherForm = otherForm,
};

}  // namespace

const DeferredDevice& deferredDevice() {
  static const kernels::BackendRegistration registration(kDeferred);
  static const auto* const device = [] {
    const char* const seed = std::getenv("TORCHTRT_SEED");
    return new DeferredDevice(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  }();
  return *device;
}

}  // namespace torchtrt::testing
