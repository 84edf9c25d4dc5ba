// Lowering to a backend: an engine for every method that torch._C._jit_to_backend("tensorrt", ...) names.
// runtime/delegate.h runs them.
#include <torch/csrc/jit/backends/backend_preprocess.h>

#include "compiler/spec_values.h"
#include "compiler/target.h"
#include "runtime/delegate.h"
#include "runtime/engine_class.h"
#include "torchtrt/compile.h"
#include "torchtrt/runtime.h"

namespace torchtrt {

namespace {

using ts::CompileSpec;

// libtorch unpacks what an engine gives by the elements of the method's result.
void checkResult(const std::string& name, const c10::TypePtr& type) {
  const auto is_tensor = [](const c10::TypePtr& each) { return each->kind() == c10::TypeKind::TensorType; };
  const auto tuple = type->cast<c10::TupleType>();
  if (!is_tensor(type) && !(tuple && std::all_of(tuple->elements().begin(), tuple->elements().end(), is_tensor))) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "lowered methods give a Tensor or a tuple of Tensors, " + name + " gives " + type->repr_str(),
                       {}, "use torchtrt.compile, which takes every signature");
  }
}

c10::IValue preprocess(const torch::jit::Module& module, const c10::Dict<c10::IValue, c10::IValue>& specs,
                       const torch::jit::BackendDebugHandleGenerator&) {
  runtime::checkRegistered();
  c10::Dict<std::string, c10::intrusive_ptr<runtime::Engine>> engines;
  for (const auto& entry : specs) {
    const std::string& name = entry.key().toStringRef();
    const auto method = module.find_method(name);
    if (!method) {
      throw CompileError(ErrorCode::kInvalidModule, "the module has no method \"" + name + "\"");
    }
    checkResult(name, method->function().getSchema().returns().at(0).type());
    CompileSpec spec = compiler::specOf(entry.value().toCustomClass<runtime::DelegateSpec>()->settings);
    spec.require_full_compilation = true;
    engines.insert(name, runtime::Engine::fromBytes(ts::convert_method_to_trt_engine(module, name, spec),
                                                    compiler::targetOf(spec, &module).placement));
  }
  return engines;
}

const torch::jit::backend_preprocess_register registration(runtime::kBackend, preprocess);

}  // namespace

torch::jit::IValue ts::to_backend_spec(const CompileSpec& info) {
  const auto refuse = [](const std::string& what) {
    throw CompileError(ErrorCode::kInvalidOption, what + " cannot be given where a whole method becomes one engine", {},
                       "use torchtrt.compile, or leave it out");
  };
  if (!info.graph_inputs.input_signature.isNone()) {
    refuse("input_signature");
  }
  if (!info.torch_executed_ops.empty() || !info.torch_executed_modules.empty()) {
    refuse("what stays in PyTorch");
  }
  if (!info.rewriters.empty()) {
    refuse("rewriters");
  }
  if (info.ptq_calibrator) {
    refuse("a calibrator");
  }
  CompileSpec spec = info;  // which libtorch keeps beside the engine: without tensors, which nobody reads there
  spec.sample_inputs.clear();
  for (Input& input : spec.graph_inputs.inputs) {
    input.sample = at::Tensor();
  }
  return c10::make_intrusive<runtime::DelegateSpec>(compiler::settingsOf(spec));
}

}  // namespace torchtrt
