// torch._C._jit_to_backend("tensorrt", ...) leaves this in a module: settings by method, and the backend that runs an
// engine by method. Such modules load with the runtime library alone; compiler/delegate.cpp makes them.
#pragma once

#include <torch/csrc/jit/backends/backend_interface.h>
#include <torch/custom_class.h>
#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

inline constexpr const char* kBackend = "tensorrt";

// torch.classes.tensorrt.CompileSpec: what the user asked for, by option. The runtime only carries it, as libtorch
// keeps the settings beside the lowered module.
struct TORCHTRT_API DelegateSpec : torch::CustomClassHolder {
  using Settings = c10::Dict<std::string, c10::IValue>;
  explicit DelegateSpec(Settings settings) : settings(std::move(settings)) {}
  Settings settings;
};

// torch.classes.__backends__.tensorrt. It takes a dictionary of engines by method as the processed module.
class Delegate final : public torch::jit::PyTorchBackendInterface {
 public:
  bool is_available() override;
  c10::impl::GenericDict compile(c10::IValue processed, c10::impl::GenericDict method_compile_spec) override;
  c10::impl::GenericList execute(c10::IValue handle, c10::impl::GenericList inputs) override;
};

void registerDelegate();

}  // namespace torchtrt::runtime
