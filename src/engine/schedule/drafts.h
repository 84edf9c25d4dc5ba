// A schedule while it is made: how each tensor of the plan is kept, and what will be done. Private to this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/schedule/schedule.h"

namespace torchtrt::engine {

inline constexpr size_t kNever = static_cast<size_t>(-1);

// A prepared kernel takes roughly this much for itself: a few descriptions of dims and strides.
inline constexpr size_t kBytesPerKernel = 1024;

// Says how a tensor of the plan is kept in this schedule. A tensor that shares another's memory has `base` set.
struct Place {
  kernels::TensorDesc desc;
  size_t bytes = 0;
  int32_t base = -1;
  Slot slot;
  size_t written_by = kNever;  // action
  size_t last_use = 0;         // action
};

// An action with its operands as tensors (-1: absent), resolved to slots once every place is known.
struct Draft {
  std::unique_ptr<kernels::Prepared> prepared;
  int32_t step = -1;
  Rule rule = Rule::kNone;
  std::vector<int32_t> fused;        // Action::fused
  std::vector<uint32_t> unit_sizes;  // Action::unit_sizes
  std::vector<int32_t> inputs, outputs;
  int32_t input_binding = -1;   // a copy that reads this input as the caller gave it
  int32_t output_binding = -1;  // a copy that writes this output
};

// The tensor whose memory a tensor shares: itself where it shares none.
int32_t rootOf(const std::vector<Place>& places, int32_t tensor);

// Does the rest once every place and action is known: offsets in the workspace, slots, actions and what all that holds.
void assemble(const Model& model, std::vector<Place> places, std::vector<Draft> drafts, Schedule& result);

}  // namespace torchtrt::engine
