#include "engine/loading/model.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/checkpoint.h"
#include "cpu/threads/parallel.h"
#include "device/constants.h"
#include "engine/loading/binaries.h"
#include "engine/loading/switches.h"
#include "kernels/backend.h"
#include "kernels/real_time.h"
#include "plan/counted.h"

namespace torchtrt::engine {

namespace {

// Smaller engines would cost more to share than to have twice: their last huge page is not full.
constexpr size_t kLeastSharedBytes = size_t{4} << 20;

class ModelLoader {
 public:
  ModelLoader(plan::Plan plan, const LoadOptions& options, const device::Device& device)
      : model_(std::make_shared<Model>()),
        threads_(options.threads),
        real_time_(options.real_time),
        lasting_(options.lasting),
        packed_(options.packed) {
    model_->plan = std::move(plan);
    model_->device = &device;
    model_->binaries = offerBinaries(model_->plan, device);
    const Switches switches = switchesOfEnvironment();
    model_->force_reference = options.force_reference || switches.reference_kernels;
    model_->replays = switches.replays;
    shares_weights_ = device.isHost() && (options.share_weights || switches.shares_weights);
    model_->rules.remove(options.disabled_fusions);
    model_->rules.remove(switches.disabled_fusions);
    if (threads_ <= 0) {
      threads_ = std::min(kernels::currentThreads(), device::cpu().properties().cores);
    }
  }

  std::shared_ptr<const Model> load(Ownership ownership) {
    evaluateRange();
    model_->counts = plan::countsOfTensors(plan());
    if (shares_weights_ && bytesOfWeights() >= kLeastSharedBytes) {
      device::SharedConstants shared;
      createKernels();
      keepNeededWeights(ownership, true);
      model_->shared_bytes = shared.share();
    } else {
      createKernels();
      keepNeededWeights(ownership, false);
    }
    device::trimConstants();
    model_->candidates = findCandidates(plan(), model_->steps, model_->rules);
    describeBindings();
    return model_;
  }

 private:
  const plan::Plan& plan() const {
    return model_->plan;
  }

  // The range of a size that PyTorch computes may reach further than the arithmetic on it, down to a division by zero:
  // such an end is told as the optimum, and a call that comes there fails as PyTorch does.
  void evaluateRange() {
    evaluate(&Symbol::opt, registers_[1]);
    for (const auto& [end, registers] :
         {std::pair(&Symbol::min, &registers_[0]), std::pair(&Symbol::max, &registers_[2])}) {
      try {
        evaluate(end, *registers);
      } catch (const EngineError& error) {
        if (error.code() != ErrorCode::kShapeArithmetic) {
          throw;
        }
        *registers = registers_[1];
      }
    }
  }

  void evaluate(int64_t Symbol::*which, std::vector<int64_t>& registers) const {
    std::vector<int64_t> values;
    for (const Symbol& symbol : plan().symbols) {
      values.push_back(symbol.*which);
    }
    plan::runProgram(plan(), values, registers);
  }

  void createKernels() {
    kernels::ThreadScope scope(threads_);
    // An implementation that was the fastest for one batch need not be for another.
    takes_hints_ = !plan().batch_invariant && !plan().timed_on.empty() && plan().timed_on == machineKey();
    countReaders();
    for (const plan::Step& step : plan().steps) {
      checkpoint();
      const kernels::Problem problem = problemOf(plan(), step, registers_[1], threads_, *model_->device);
      locateErrors(step, [&] { addKernel(step, problem); });
      noteWeights(step);
    }
  }

  std::string machineKey() const {
    return kernels::backendOf(model_->device).machineKey(*model_->device, threads_);
  }

  // Throws where the hint names no implementation: this version of torchtrt found it on this machine, says the plan.
  std::string_view hintOf(const plan::Step& step) const {
    if (model_->force_reference) {
      return "reference";
    }
    if (!takes_hints_ || step.hint.empty()) {
      return {};
    }
    const kernels::Family* const family = kernels::findFamily(step.family, model_->device);
    if (family != nullptr && family->find(step.hint) == nullptr) {
      throw EngineError(ErrorCode::kPlanCorrupt,
                        "step '" + step.name + "' (" + step.family + "): its hint \"" + step.hint +
                            "\" names no implementation of " + step.family,
                        step.location, "compile the module again");
    }
    return step.hint;
  }

  // A kernel is refused for nothing that the verifier of networks lets through: then torchtrt did not make the plan.
  void addKernel(const plan::Step& step, const kernels::Problem& problem) {
    try {
      const auto create = real_time_ ? kernels::createRealTimeKernel : kernels::createKernel;
      kernels::Chosen chosen = create(problem, hintOf(step));
      model_->packed_bytes += chosen.kernel->packedBytes();
      model_->steps.push_back({std::move(chosen.kernel), chosen.implementation});
    } catch (const InternalError& error) {
      throw EngineError(ErrorCode::kPlanCorrupt, "step '" + step.name + "' (" + step.family + "): " + error.message(),
                        step.location, "compile the module again");
    }
  }

  // The weight that a tensor is a view of, or -1.
  int32_t weightOf(int32_t tensor) const {
    return tensor < 0 ? -1 : plan().tensors[static_cast<size_t>(rootOf(plan(), tensor))].weight;
  }

  void countReaders() {
    readers_.resize(plan().weights.size());
    needed_.resize(plan().weights.size());
    model_->sources.resize(plan().weights.size());
    for (const plan::Step& step : plan().steps) {
      for (const int32_t input : step.inputs) {
        if (const int32_t weight = weightOf(input); weight >= 0) {
          ++readers_[static_cast<size_t>(weight)];
        }
      }
    }
    for (const plan::Binding& output : plan().outputs) {
      if (const int32_t weight = weightOf(output.tensor); weight >= 0) {
        needed_[static_cast<size_t>(weight)] = true;
      }
    }
  }

  // Notes the weights that the last kernel's calls go on reading, and those that it restores.
  void noteWeights(const plan::Step& step) {
    const kernels::Kernel& kernel = *model_->steps.back().kernel;
    const auto* restores = dynamic_cast<const kernels::RestoresConstants*>(&kernel);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const int32_t weight = weightOf(step.inputs[k]);
      if (weight < 0) {
        continue;
      }
      const auto w = static_cast<size_t>(weight);
      if (kernel.needsConstant(static_cast<int>(k))) {
        needed_[w] = true;
      } else if (restores != nullptr && restores->restores(static_cast<int>(k))) {
        model_->sources[w] = {restores, static_cast<int>(k)};
      }
      if (needed_[w]) {
        model_->sources[w] = {};
      }
      if (--readers_[w] == 0 && model_->sources[w].kernel != nullptr && packed_) {
        model_->plan.weights[w].data = nullptr;
        packed_(w);
      }
    }
  }

  size_t bytesOfWeights() const {
    return std::transform_reduce(plan().weights.begin(), plan().weights.end(), size_t{0}, std::plus<>(),
                                 [](const plan::Weight& weight) { return weight.bytes; });
  }

  // Calls read weights in the device's memory. Memory with a common owner would stay as a whole for the sake of a
  // single weight: where less than half of it is still read, and where the caller gave no owner, what is needed is
  // copied. So is what processes shall share: the giver can have it back.
  void keepNeededWeights(Ownership ownership, bool shared) {
    for (size_t i = 0; i < needed_.size(); ++i) {
      model_->weight_bytes += needed_[i] ? plan().weights[i].bytes : 0;
    }
    const bool copy = ownership == Ownership::kNone ||
                      (ownership == Ownership::kTogether && model_->weight_bytes * 2 < bytesOfWeights());
    model_->weights.resize(needed_.size());
    for (size_t i = 0; i < needed_.size(); ++i) {
      plan::Weight& weight = model_->plan.weights[i];
      const bool is_kept = needed_[i] && weight.bytes != 0;
      if (is_kept && shared) {
        shareWeight(i);
      } else if (is_kept) {
        const bool stays = model_->device->isHost() && !copy;
        model_->weights[i] = !stays ? copyOf(weight) : lasting_ ? lasting_(i) : weight.data;
      }
      weight.data = nullptr;
    }
    model_->device->wait({});
  }

  void shareWeight(size_t index) {
    plan::Weight& weight = model_->plan.weights[index];
    std::shared_ptr<void> copy = device::allocateConstant(weight.bytes, "loading the engine's weights");
    std::memcpy(copy.get(), weight.data.get(), weight.bytes);
    model_->weights[index] = std::move(copy);
    model_->sources[index] = {.is_copy = true};
    weight.data = nullptr;
    if (packed_) {
      packed_(index);
    }
  }

  std::shared_ptr<const void> copyOf(const plan::Weight& weight) const {
    auto memory =
        std::make_shared<device::Memory>(model_->device->allocate(weight.bytes, "loading the engine's weights"));
    model_->device->copyIn(memory->data(), weight.data.get(), weight.bytes, {});
    return {memory, memory->data()};
  }

  BindingInfo describeBinding(const plan::Binding& binding) const {
    const plan::Tensor& tensor = plan().tensors[static_cast<size_t>(binding.tensor)];
    BindingInfo info;
    info.name = binding.name;
    info.dtype = tensor.dtype;
    for (const plan::Register r : tensor.dims) {
      info.dims.push_back(plan::printRegister(plan(), r));
      info.min.push_back(registers_[0][r]);
      info.opt.push_back(registers_[1][r]);
      info.max.push_back(registers_[2][r]);
    }
    if (model_->countOf(binding.tensor) >= 0) {
      info.dims.front() = "0.." + info.dims.front();
      info.min.front() = 0;
    }
    return info;
  }

  void describeBindings() {
    for (const plan::Binding& input : plan().inputs) {
      model_->inputs.push_back(describeBinding(input));
    }
    for (const plan::Binding& output : plan().outputs) {
      model_->outputs.push_back(describeBinding(output));
    }
  }

  std::shared_ptr<Model> model_;
  int threads_;
  bool real_time_;
  std::function<std::shared_ptr<const void>(size_t)> lasting_;
  std::function<void(size_t)> packed_;
  bool takes_hints_ = false;
  bool shares_weights_ = false;
  std::vector<int> readers_;           // of each weight: operands of the steps that have no kernel yet
  std::vector<bool> needed_;           // by calls
  std::vector<int64_t> registers_[3];  // for every symbol at its minimum, optimum, maximum
};

}  // namespace

std::shared_ptr<const Model> loadModel(plan::Plan plan, Ownership ownership, const LoadOptions& options,
                                       const device::Device& device) {
  return ModelLoader(std::move(plan), options, device).load(ownership);
}

}  // namespace torchtrt::engine
