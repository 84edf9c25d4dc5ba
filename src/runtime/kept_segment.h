// PyTorch's form of an engine's segment. It runs for shapes or dtypes that the engine was not made for, and checks the
// engine's results. It is a small TorchScript archive, opened when first needed, with its constant tensors beside it.
// Constants that are weights the engine let go are restored when it runs, and stay from then on.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_weights.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

class TORCHTRT_API KeptSegment {
 public:
  // The parts of a kept segment, and the form in which it is saved.
  struct State {
    std::string archive;
    std::vector<at::Tensor> constants;
  };

  // `device` is the engine's: constants of calls that PyTorch runs beside it go there.
  KeptSegment(State state, std::shared_ptr<const EngineWeights> weights, const at::Device& device = at::kCPU);

  const std::string& archive() const {
    return archive_;
  }
  std::vector<at::Tensor> constants() const;
  // The engine's.
  const at::Device& device() const {
    return device_;
  }
  size_t constantCount() const {
    return constants_.size();
  }
  // The same for a call that PyTorch runs in the place of the module's engines: warns once.
  std::vector<at::Tensor> constantsForOtherCall() const;
  // True if the segment helps against the engine's error.
  static bool helps(const EngineError& error);
  // Its inputs: the module itself, the engine's inputs, the constants. Its output: a list of the engine's outputs.
  std::shared_ptr<torch::jit::Graph> graph() const;
  // Outputs do not require grad.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;
  // Runs in the engine's place and warns once.
  std::vector<at::Tensor> runInstead(const std::vector<at::Tensor>& inputs, const EngineError& why) const;

 private:
  struct ByDevice {
    bool operator()(const at::Device& a, const at::Device& b) const {
      return std::pair(a.type(), a.index()) < std::pair(b.type(), b.index());
    }
  };
  struct Constant {
    at::Tensor held;  // undefined: it is this view of a weight that was let go
    size_t weight = 0;
    std::vector<int64_t> dims, strides;
    int64_t offset = 0;
  };

  torch::jit::Module module() const;
  std::vector<at::Tensor> constantsThatStay(const at::Device& device) const;
  void warnOnce(const std::string& why) const;

  std::string archive_;
  std::vector<Constant> constants_;
  std::shared_ptr<const EngineWeights> weights_;
  mutable std::mutex mutex_;
  mutable std::optional<torch::jit::Module> module_;
  at::Device device_;
  mutable std::map<at::Device, std::vector<at::Tensor>, ByDevice> restored_;  // what has to stay for the next run
  mutable std::atomic<bool> has_warned_ = false;
};

}  // namespace torchtrt::runtime
