// What an engine computes, as PyTorch runs it: for inputs of shapes or dtypes that the engine was not made for, and to
// hold the engine against. A small TorchScript archive, opened when it is first needed, whose constant tensors lie
// beside it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

class TORCHTRT_API KeptSegment {
 public:
  KeptSegment(std::string archive, std::vector<at::Tensor> constants)
      : archive_(std::move(archive)), constants_(std::move(constants)) {}

  const std::string& archive() const {
    return archive_;
  }
  const std::vector<at::Tensor>& constants() const {
    return constants_;
  }
  // Whether it helps against what the engine says.
  static bool helps(const EngineError& error);
  // Its inputs: the module itself, the engine's inputs, the constants. Its output: a list of the engine's outputs.
  std::shared_ptr<torch::jit::Graph> graph() const;
  // Outputs do not require grad.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;
  // In the engine's place: warns once.
  std::vector<at::Tensor> runInstead(const std::vector<at::Tensor>& inputs, const EngineError& why) const;

 private:
  torch::jit::Module module() const;

  std::string archive_;
  std::vector<at::Tensor> constants_;
  mutable std::mutex mutex_;
  mutable std::optional<torch::jit::Module> module_;
  mutable std::atomic<bool> has_warned_ = false;
};

}  // namespace torchtrt::runtime
