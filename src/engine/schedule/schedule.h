// A schedule is a model made ready for one set of input shapes and strides: the kernels that a call runs in order
// (after fusion), the workspace's layout, and the place of every operand. Immutable, shared by all contexts. print.cpp
// gives it a text form. Private to engine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/loading/model.h"

namespace torchtrt::engine {

// Says where an operand of a call lies.
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
  int32_t step = -1;                 // of the plan; -1 for a copy that the engine added
  Rule rule = Rule::kNone;           // by which it computes other steps, too
  std::vector<int32_t> fused;        // those steps
  std::vector<uint32_t> unit_sizes;  // of a pointwise group: how many steps each member is, in the order of the plan
  uint32_t first_input = 0, first_output = 0, scratch = 0;
  bool is_fenced = false;  // RunArgs::is_fenced
};

struct OutputShape {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  size_t bytes = 0;
  bool is_cut = false;  // these are its largest dims
  int updates = -1;     // the input in whose memory it may be written; -1: none
};

// An output that shows its length when all has run: it is computed in the workspace, and what counts of it copied.
struct Cut {
  uint32_t output = 0;
  uint32_t rows = 0, count = 0;  // slots: where it lies, and the number of its rows
};

// Two steps that a fusion rule could join and leaves apart.
struct LeftApart {
  Rule rule = Rule::kNone;
  int32_t first = -1, second = -1;
  std::string reason;
};

// A step that no action runs, because nothing is left to do.
struct Skipped {
  int32_t step = -1;
  const char* reason = "";
};

struct Schedule {
  std::vector<int64_t> key;  // see makeKey
  int threads = 1;
  std::vector<Action> actions;
  std::vector<Slot> slots;
  std::vector<int32_t> tensors;      // of the plan, one per slot; -1 for scratch memory and bindings of copies
  std::vector<uint32_t> call_slots;  // those of kind kInput and kOutput: they change with every call
  std::vector<OutputShape> outputs;
  std::vector<Cut> cuts;
  std::vector<size_t> input_bytes;
  size_t workspace_bytes = 0;
  size_t held_bytes = 0;     // what keeping this costs
  bool waits = false;        // for its stream: a step on the host, or an output that shows its length late
  bool is_replayed = false;  // the device records its calls: nothing of it waits, and there is enough of it
  std::vector<LeftApart> apart;
  std::vector<Skipped> skipped;
  int input_copies = 0, output_copies = 0;

  std::vector<std::unique_ptr<kernels::Prepared>> prepared;
  std::vector<std::unique_ptr<kernels::Kernel>> copies;

  bool matches(std::span<const TensorView> inputs, int thread_count) const;
};

// Rank, element type, dims and strides of every input, one after the other.
void makeKey(std::span<const TensorView> inputs, std::vector<int64_t>& key);

// Throws EngineError for inputs that the plan does not take.
std::shared_ptr<const Schedule> buildSchedule(const Model& model, std::span<const TensorView> inputs, int threads);

// One line per action: fused steps, rule, implementation, operands with their places, results with their shapes. Then
// the steps that were skipped, and the pairs that a rule left apart, with reasons. README.md explains the form.
std::string print(const Model& model, const Schedule& schedule, std::span<const TensorView> inputs);

// The steps of an action in the order of the plan.
std::vector<int32_t> stepsOf(const Action& action);

}  // namespace torchtrt::engine
