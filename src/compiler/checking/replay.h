// A recorded call of an engine (runtime/recording), run again: held against the recorded outputs, and against PyTorch
// where the engine keeps its operators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/deviation.h"
#include "torchtrt/export.h"

namespace torchtrt::compiler {

struct RecordedCall {
  std::string name;  // of the record
  c10::intrusive_ptr<runtime::Engine> engine;
  std::vector<at::Tensor> inputs, outputs;  // as many as the engine has
  std::string error;                        // of a call that failed, which has no outputs
};

struct TORCHTRT_API Replay {
  std::string record, engine;
  double milliseconds = 0;
  std::string recorded_error, error;           // the first lines; empty: the call did not fail
  std::optional<Deviation> from_record;        // of the outputs of now
  std::optional<Deviation> from_torch;         // of the outputs of now
  std::optional<Deviation> record_from_torch;  // of the recorded outputs
  std::string culprit;  // the first operator up to which an engine that is made anew disagrees with PyTorch, too
  std::string note;     // why there is no comparison with PyTorch, or no culprit

  // True if the call does what was recorded, and no result is wrong.
  bool isRight() const;
  std::string verdict() const;  // "wrong, as recorded"
};

// Throws nothing that the call throws.
TORCHTRT_API Replay replay(const RecordedCall& call);
// A table with a row for each, and what is wrong.
TORCHTRT_API std::string toText(const std::vector<Replay>& replays);
// One line: how many are right, and the first that is not.
TORCHTRT_API std::string verdictOf(const std::vector<Replay>& replays);

}  // namespace torchtrt::compiler
