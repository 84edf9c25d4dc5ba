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
  // Throws EngineError for a tensor that is not dense, not here, or of a dtype that no engine computes with.
  InputViews(std::vector<at::Tensor>& inputs, const Engine& engine);

  std::span<const engine::TensorView> span() const {
    return views_;
  }

 private:
  std::vector<engine::TensorView> views_;
};

}  // namespace torchtrt::runtime
