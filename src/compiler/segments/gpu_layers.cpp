#include "compiler/segments/gpu_layers.h"

#include <string>
#include <string_view>

#include "kernels/backend.h"

namespace torchtrt::compiler {

namespace {

constexpr const char* kHost = "host";  // the last implementation of every family

}  // namespace

std::optional<Refusal> refusalWithoutKernel(const network::Layer& layer) {
  std::string reason;
  const kernels::Backend* const backend = kernels::findBackend("cuda", reason);
  const kernels::Family* const family = backend == nullptr ? nullptr : kernels::findFamily(layer.info().name, *backend);
  const bool is_host_alone = family != nullptr && family->implementations.size() == 1 &&
                             std::string_view(family->implementations.front().name) == kHost;
  if (!is_host_alone) {
    return std::nullopt;
  }
  return Refusal{"no-cuda-kernel", "its layer " + std::string(family->name) + " has no kernel for a GPU"};
}

}  // namespace torchtrt::compiler
