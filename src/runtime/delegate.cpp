#include "runtime/delegate.h"

#include <torch/csrc/jit/backends/backend.h>

#include "runtime/engine_class.h"
#include "runtime/execute.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

bool Delegate::is_available() {
  return true;
}

c10::impl::GenericDict Delegate::compile(c10::IValue processed, c10::impl::GenericDict method_compile_spec) {
  return atBorder([&] {
    if (!processed.isGenericDict()) {
      throw EngineError(ErrorCode::kPlanCorrupt, "a lowered module holds engines by method, got " + processed.tagKind(),
                        {}, "lower the module again with torch._C._jit_to_backend");
    }
    c10::impl::GenericDict engines = processed.toGenericDict();
    for (const auto& method : method_compile_spec) {
      if (!engines.contains(method.key())) {
        throw EngineError(ErrorCode::kPlanCorrupt,
                          "a lowered module has no engine for its method " + method.key().toStringRef(), {},
                          "lower the module again with torch._C._jit_to_backend");
      }
    }
    return engines;
  });
}

c10::impl::GenericList Delegate::execute(c10::IValue handle, c10::impl::GenericList inputs) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(inputs.size());
  for (const c10::IValue& input : inputs) {
    TORCH_CHECK_TYPE(input.isTensor(), "input ", tensors.size(), " of a lowered module is to be a tensor, got ",
                     input.tagKind());
    tensors.push_back(input.toTensor());
  }
  c10::impl::GenericList outputs(c10::AnyType::get());
  for (at::Tensor& output : executeEngine(std::move(tensors), handle.toCustomClass<Engine>())) {
    outputs.push_back(std::move(output));
  }
  return outputs;
}

void registerDelegate() {
  using Holder = c10::intrusive_ptr<DelegateSpec>;
  static const auto spec = torch::class_<DelegateSpec>("tensorrt", "CompileSpec")
                               .def(torch::init<DelegateSpec::Settings>())
                               .def("settings", [](const Holder& self) { return self->settings; })
                               .def_pickle([](const Holder& self) { return self->settings; },
                                           [](DelegateSpec::Settings settings) {
                                             return c10::make_intrusive<DelegateSpec>(std::move(settings));
                                           });
  static const torch::jit::backend<Delegate> backend(kBackend);
}

}  // namespace torchtrt::runtime
