// An engine as plain values: its steps, what flows between them, and the schedule of a call with the optimum's sizes.
// For pages that show an engine; the text forms are Engine::inspect() and Engine::schedule().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "torchtrt/engine.h"
#include "torchtrt/export.h"

namespace torchtrt::engine {

struct Outline {
  struct Tensor {
    std::string name;
    DType dtype = DType::kFloat32;
    std::vector<std::string> dims;  // expressions; numbers where static
    uint64_t bytes = 0;             // at the optimum; of a weight: in the plan
    bool is_weight = false;
    int32_t view_of = -1;  // the tensor in whose memory it is
  };
  struct Step {
    std::string name, family, implementation, attributes;
    Location location;
    std::vector<int32_t> inputs, outputs;  // tensors; -1: absent operand
  };
  struct Action {
    std::vector<int32_t> steps;  // none: a copy that the engine added
    std::string rule;            // that fused them; empty: none
  };
  // A piece of the workspace, from the action that writes it to the last that reads it.
  struct Buffer {
    int32_t tensor = -1;  // -1: scratch memory of a kernel, or a copy of a binding
    uint64_t offset = 0, bytes = 0;
    uint32_t first = 0, last = 0;
  };
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  std::vector<int32_t> inputs, outputs;  // tensors of the bindings
  std::vector<Action> actions;
  std::vector<Buffer> buffers;  // in the order in which they are written
  uint64_t workspace_bytes = 0;
  std::string note;  // why there are no actions
};

TORCHTRT_API Outline outlineOf(const Engine& engine);

// The implementation of each step of the plan. `engine` is one that Engine::load returned.
TORCHTRT_API std::vector<std::string> implementationsOf(const Engine& engine);

}  // namespace torchtrt::engine
