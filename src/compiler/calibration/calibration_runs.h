// A compiled module on calibration batches: what reaches its engines, in branches and loops too.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "compiler/task.h"
#include "runtime/engine_class.h"
#include "torchtrt/options.h"
#include "torchtrt/ptq.h"

namespace torchtrt::compiler {

// Values as arguments of the method: nested as it declares them, floating tensors in the dtype that the weights were
// cast to, if they were.
std::vector<torch::jit::IValue> asArguments(std::vector<torch::jit::IValue> values, const c10::FunctionSchema& schema,
                                            DataType precision);

// Says how far something is that takes long: a line every two seconds, none before.
class Progress {
 public:
  void at(const std::function<std::string()>& where);

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct CalibrationRuns {
  const torch::jit::Module& module;
  std::string method;
  const c10::FunctionSchema& schema;  // of the method, before it was compiled
  size_t arguments = 0;               // that a batch has at most; what is behind them is left out
  DataType precision;                 // of weights, where they were cast
  bool has_state = false;             // the method changes the module
  int earlier_calls = 0;              // before the one of runOnce, for the state that they leave
  at::Device device = at::kCPU;       // of the module
};

CalibrationRuns calibrationRuns(const Task& task, const torch::jit::Module& module);

// May throw EngineError, for inputs that the engine was not made for.
using EngineCall = std::function<void(const runtime::Engine& engine, std::vector<at::Tensor> inputs)>;

// Runs every batch through the module; `call` gets each call of an engine. A batch that does not fit is left out with a
// warning. If it is the first, or there is none at all, that is a CompileError(kInvalidInputSpec). An error of the
// calibrator ends the runs.
void runBatches(const ptq::Calibrator& calibrator, const CalibrationRuns& runs, const EngineCall& call);
// The same for the arguments of one call, which is the first where a module fails behind earlier ones. Throws what the
// module does.
void runOnce(const CalibrationRuns& runs, const std::vector<torch::jit::IValue>& arguments, const EngineCall& call);

}  // namespace torchtrt::compiler
