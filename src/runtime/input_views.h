// The tensors of a call as an engine takes them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/engine.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

// Views of the inputs of one call, which have to outlive them; what is a lazy view among those is copied there.
class TORCHTRT_API InputViews {
 public:
  // Throws EngineError for a tensor that is not dense, not on the engine's device, or of a dtype that no engine
  // computes with.
  InputViews(std::vector<at::Tensor>& inputs, const Engine& engine) : InputViews(inputs, engine, engine.device()) {}
  // The same for tensors on another device, which the engine itself is not to read.
  InputViews(std::vector<at::Tensor>& inputs, const Engine& engine, const at::Device& device);

  std::span<const engine::TensorView> span() const {
    return views_;
  }

 private:
  std::vector<engine::TensorView> views_;
};

}  // namespace torchtrt::runtime
