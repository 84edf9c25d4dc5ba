// A model made ready for one set of input shapes and strides: prepared kernels, the workspace's layout, and where each
// operand of each action is found. Immutable, shared by all contexts. Private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/model.h"

namespace torchtrt::engine {

// Where an operand of a call lies.
struct Slot {
  enum class Kind : uint8_t { kNull, kConstant, kWorkspace, kInput, kOutput };
  Kind kind = Kind::kNull;
  uint32_t index = 0;              // kInput, kOutput
  size_t offset = 0;               // kWorkspace
  const void* constant = nullptr;  // kConstant
};

// One kernel run. Operand k lies where slot first_input + k says, and so on.
struct Action {
  const kernels::Prepared* prepared = nullptr;
  int32_t step = -1;             // of the plan; -1 for a copy that the engine added
  std::vector<int32_t> chained;  // steps before it that this action computes, too (chains.h)
  uint32_t first_input = 0, first_output = 0, scratch = 0;
};

struct OutputShape {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  size_t bytes = 0;
  bool is_cut = false;  // these are its largest dims
};

// An output that shows its length when all has run: it is computed in the workspace, and what counts of it copied.
struct Cut {
  uint32_t output = 0;
  uint32_t rows = 0, count = 0;  // slots: where it lies, and the number of its rows
};

struct Specialization {
  std::vector<int64_t> key;  // see makeKey
  int threads = 1;
  std::vector<Action> actions;
  std::vector<Slot> slots;
  std::vector<uint32_t> call_slots;  // those of kind kInput and kOutput: they change with every call
  std::vector<OutputShape> outputs;
  std::vector<Cut> cuts;
  std::vector<size_t> input_bytes;
  size_t workspace_bytes = 0;
  size_t held_bytes = 0;  // what keeping this costs
  int skipped_steps = 0;  // reorders that found their input already in the order wanted, steps on nothing
  int input_copies = 0, output_copies = 0;

  std::vector<std::unique_ptr<kernels::Prepared>> prepared;
  std::vector<std::unique_ptr<kernels::Kernel>> copies;

  bool matches(std::span<const TensorView> inputs, int thread_count) const;
};

// Rank, element type, dims and strides of every input, one after the other.
void makeKey(std::span<const TensorView> inputs, std::vector<int64_t>& key);

// Throws EngineError for inputs that the plan does not take.
std::shared_ptr<const Specialization> specialize(const Model& model, std::span<const TensorView> inputs, int threads);

}  // namespace torchtrt::engine
