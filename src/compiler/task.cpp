#include "compiler/task.h"

#include "compiler/calibration/calibration_runs.h"
#include "compiler/module/placing.h"

namespace torchtrt::compiler {

namespace {

// True if tensors, one per argument from the first on, are the arguments of a call of the method.
bool areArguments(const std::vector<torch::jit::IValue>& tensors, const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool fits = i < tensors.size() ? arguments[i].type()->kind() == c10::TypeKind::TensorType
                                         : arguments[i].default_value().has_value();
    if (!fits) {
      return false;
    }
  }
  return tensors.size() <= arguments.size();
}

}  // namespace

std::string methodName(const lowering::LoweredGraph& lowered) {
  return lowered.module_name + "." + lowered.schema.name();
}

std::vector<torch::jit::IValue> samplesOf(const Task& task) {
  const auto& [source, lowered, spec, precision, target] = task;
  std::vector<torch::jit::IValue> samples = spec.sample_inputs;
  if (samples.empty() && spec.graph_inputs.input_signature.isNone()) {
    for (const Input& input : spec.graph_inputs.inputs) {
      if (!input.sample.defined()) {
        return {};
      }
      samples.emplace_back(input.sample);
    }
    if (!areArguments(samples, lowered.schema)) {
      return {};
    }
  }
  return placed(asArguments(std::move(samples), lowered.schema, precision), target.device);
}

bool carriesMethods(const Source& source, const ts::CompileSpec& spec) {
  return !spec.require_full_compilation && hasOtherMethods(source, spec.keep_methods);
}

bool sharesWeights(const Task& task) {
  return carriesMethods(task.source, task.spec) && !task.target.isGpu();
}

}  // namespace torchtrt::compiler
