// One call of an engine, and the files that keep it: a module that calls the engine, inputs and outputs as torch.save
// writes them, the error of a call that failed, and a summary in JSON. Redacted, the summary is all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime::recording {

inline constexpr const char* kModuleFile = "module.ts";
inline constexpr const char* kInputsFile = "inputs.pt";    // a tuple of tensors
inline constexpr const char* kOutputsFile = "outputs.pt";  // the same; a call that failed has none
inline constexpr const char* kErrorFile = "error.txt";     // of a call that failed
inline constexpr const char* kSummaryFile = "record.json";

struct Record {
  c10::intrusive_ptr<Engine> engine;
  uint64_t call = 0;  // of engines of this name in this process, from 1
  std::vector<at::Tensor> inputs, outputs;
  std::string error;         // of a call that failed
  std::string disagreement;  // with PyTorch, where that was asked
  double milliseconds = 0;   // of the call; on a GPU until the work was handed over
};

// Numbers of the call, statistics of its tensors, and facts().
std::string summaryOf(const Record& record, bool is_redacted);
// The module has the engine's inputs as arguments of its forward.
void writeModule(const c10::intrusive_ptr<Engine>& engine, const std::string& path);
// Writes all files but the module.
void writeCall(const Record& record, bool is_redacted, const std::string& folder);

}  // namespace torchtrt::runtime::recording
