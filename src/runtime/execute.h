// The kernels behind `tensorrt::execute_engine`: tensors are bound as they lie, outputs are fresh and never require
// grad. They throw TorchEngineError where nothing else is said.
#pragma once

#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

// The operators that compiled modules call.
inline constexpr const char* kExecuteEngine = "tensorrt::execute_engine";
inline constexpr const char* kUpdateByEngine = "tensorrt::update_by_engine";
inline constexpr const char* kKeptConstants = "tensorrt::kept_constants";

TORCHTRT_API std::vector<at::Tensor> executeEngine(std::vector<at::Tensor> inputs,
                                                   const c10::intrusive_ptr<Engine>& engine);
// The same where results go into inputs: outputs[i], by number, into the memory of inputs[updated[i]]. Gives the other
// results. What an engine can change in place is not copied; this takes inputs that lie apart (apart.h).
TORCHTRT_API std::vector<at::Tensor> updateByEngine(std::vector<at::Tensor> inputs,
                                                    const c10::intrusive_ptr<Engine>& engine,
                                                    const std::vector<int64_t>& outputs,
                                                    const std::vector<int64_t>& updated);
// Constants that the engine keeps, for a call that PyTorch runs in its place; restored by the first such call.
TORCHTRT_API std::vector<at::Tensor> keptConstants(const c10::intrusive_ptr<Engine>& engine);
// The engine alone, whatever it keeps. Throws EngineError; what was a lazy view among the inputs is copied there.
TORCHTRT_API std::vector<at::Tensor> runEngine(std::vector<at::Tensor>& inputs, const Engine& engine);
// Outputs on the meta device, from shapes and dtypes alone.
TORCHTRT_API std::vector<at::Tensor> executeEngineMeta(std::vector<at::Tensor> inputs,
                                                       const c10::intrusive_ptr<Engine>& engine);
// Times of the steps. The first throws EngineError, the second is the form for TorchScript.
TORCHTRT_API std::vector<engine::StepProfile> profileSteps(std::vector<at::Tensor> inputs, const Engine& engine,
                                                           int64_t calls);
TORCHTRT_API std::vector<StepTuple> profileEngine(std::vector<at::Tensor> inputs, const Engine& engine, int64_t calls);
// Describes a call with inputs of these shapes (engine::Engine::schedule). Throws EngineError.
TORCHTRT_API std::string scheduleText(std::vector<at::Tensor> inputs, const Engine& engine);
TORCHTRT_API int64_t workspaceBytes(std::vector<at::Tensor> inputs, const Engine& engine);

// Runs `body` and turns what it throws into TorchEngineError.
[[noreturn]] TORCHTRT_API void rethrowAtBorder();
template <typename Body>
auto atBorder(Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    rethrowAtBorder();
  }
}

}  // namespace torchtrt::runtime
