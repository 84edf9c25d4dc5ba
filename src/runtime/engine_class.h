// The value that a compiled module holds: torch.classes.tensorrt.Engine, a loaded engine and the four strings it is
// saved as. Copies share the engine, which never changes; running it is execute.h's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <torch/custom_class.h>
#include <torch/script.h>

#include "plan/plan.h"
#include "runtime/counters.h"
#include "runtime/device_info.h"
#include "runtime/engine_weights.h"
#include "runtime/kept_segment.h"
#include "torchtrt/engine.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

// The pickled state: ABI version, engine name, device information and plan (base64) as document 004 lists them, and the
// weights. The marker of an engine for a GPU follows them.
using EngineState = std::tuple<std::vector<std::string>, std::vector<at::Tensor>>;
// The same and the kept segment beside it: its archive in base64, empty where there is none, and its constants.
using PickledEngine =
    std::tuple<std::vector<std::string>, std::vector<at::Tensor>, std::string, std::vector<at::Tensor>>;
// A binding for TorchScript: name, dtype, dims (expressions), min, opt, max.
using BindingTuple = std::tuple<std::string, std::string, std::vector<std::string>, std::vector<int64_t>,
                                std::vector<int64_t>, std::vector<int64_t>>;
// A profiled step for TorchScript: name, family, implementation, location, microseconds.
using StepTuple = std::tuple<std::string, std::string, std::string, std::string, double>;

// Holders of equal state share this in one process.
struct LoadedEngine {
  std::string plan;  // base64, without weights
  std::shared_ptr<const EngineWeights> weights;
  std::shared_ptr<const engine::Engine> engine;
  std::string switches;  // engine::kernelSwitches() when it was loaded
  at::Device device = at::kCPU;
};

class TORCHTRT_API Engine : public torch::CustomClassHolder {
 public:
  // All throw torchtrt::EngineError.
  static c10::intrusive_ptr<Engine> fromPlan(const plan::Plan& plan,  // shares the plan's weights
                                             const Placement& placement = {});
  // The same in two steps, for what has to be done with the weights before an engine packs its own copy of them.
  static std::vector<at::Tensor> weightsOf(const plan::Plan& plan);
  // Borrowed weights lie in memory that others write to: what stays of them is copied, be it read by calls or held, and
  // every tensor that shares a weight's storage has the copy. Exclusive ones lose their memory as soon as they are
  // packed, whoever has tensors of them.
  static c10::intrusive_ptr<Engine> fromPlan(const plan::Plan& plan, std::vector<at::Tensor> weights,
                                             Originals originals = Originals::kLetGo, std::vector<bool> borrowed = {},
                                             std::vector<bool> exclusive = {}, const Placement& placement = {});
  // Runs where the marker is that stands behind the weights of a GPU's engine (device_info.h). Weights that are
  // `exclusive` (EngineWeights) lose their memory as soon as they are packed. `kept`: constants of its kept segment
  // that the file gave with them; they go where the weights go.
  static c10::intrusive_ptr<Engine> fromState(EngineState state, std::vector<bool> exclusive = {},
                                              std::vector<at::Tensor>* kept = nullptr);
  // Self-contained plan bytes (plan::serialize), which are copied.
  static c10::intrusive_ptr<Engine> fromBytes(std::string_view bytes, const Placement& placement = {});
  // The four strings alone: the plan is self-contained, as bytes or in base64.
  static c10::intrusive_ptr<Engine> fromStrings(const std::vector<std::string>& strings);

  Engine(std::string name, std::string device_info, std::shared_ptr<const LoadedEngine> loaded)
      : name_(std::move(name)),
        device_info_(std::move(device_info)),
        loaded_(std::move(loaded)),
        counts_(countsOf(name_)) {}

  EngineState state() const;
  EngineState stateToSave() const;
  // Sets what runs for inputs that the engine was not made for; null: the call is an error. Call this before the engine
  // is handed out.
  void keep(KeptSegment::State kept) {
    kept_ = std::make_shared<const KeptSegment>(std::move(kept), loaded_->weights, loaded_->device);
  }
  const KeptSegment* kept() const {
    return kept_.get();
  }

  const std::string& name() const {
    return name_;
  }
  const engine::Engine& engine() const {
    return *loaded_->engine;
  }
  const at::Device& device() const {
    return loaded_->device;
  }
  // "id%major%minor%type%name" of the device that it was made for.
  const std::string& deviceInfo() const {
    return device_info_;
  }
  std::vector<at::Tensor> weights() const {
    return loaded_->weights->all();
  }
  // Returns the plan that it was loaded from. Weights of at most `largest_weight` bytes have their data.
  plan::Plan plan(uint64_t largest_weight) const;
  // Of all engines with this name.
  EngineCounts& counts() const {
    return counts_;
  }

 private:
  EngineState stateWith(std::vector<at::Tensor> weights) const;

  std::string name_;
  std::string device_info_;
  std::shared_ptr<const LoadedEngine> loaded_;
  std::shared_ptr<const KeptSegment> kept_;
  EngineCounts& counts_;
};

}  // namespace torchtrt::runtime
