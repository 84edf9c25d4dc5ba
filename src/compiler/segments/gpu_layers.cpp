#include "compiler/segments/gpu_layers.h"

#include <string>

#include "builder/device_kernels.h"
#include "kernels/backend.h"

namespace torchtrt::compiler {

std::optional<Refusal> refusalWithoutKernel(const network::Layer& layer) {
  std::string reason;
  const kernels::Backend* const backend = kernels::findBackend("cuda", reason);
  const std::optional<Refusal> refusal = backend == nullptr ? std::nullopt : builder::refusalOfDevice(layer, *backend);
  if (!refusal || refusal->code == "plugin") {
    return std::nullopt;
  }
  return Refusal{"no-cuda-kernel",
                 "its layer " + std::string(layer.info().name) + " has no kernel for a GPU: " + refusal->reason};
}

}  // namespace torchtrt::compiler
