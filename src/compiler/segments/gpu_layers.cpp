#include "compiler/segments/gpu_layers.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/backend.h"

namespace torchtrt::compiler {

namespace {

constexpr const char* kHost = "host";  // the last implementation of every family

const kernels::Family* familyOf(const kernels::Backend& backend, std::string_view name) {
  const std::vector<kernels::Family>& families = backend.families();
  const auto found = std::find_if(families.begin(), families.end(),
                                  [name](const kernels::Family& family) { return family.name == name; });
  return found == families.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Refusal> refusalWithoutKernel(const network::Layer& layer) {
  std::string reason;
  const kernels::Backend* const backend = kernels::findBackend("cuda", reason);
  const kernels::Family* const family = backend == nullptr ? nullptr : familyOf(*backend, layer.info().name);
  const bool is_host_alone = family != nullptr && family->implementations.size() == 1 &&
                             std::string_view(family->implementations.front().name) == kHost;
  if (!is_host_alone) {
    return std::nullopt;
  }
  return Refusal{"no-cuda-kernel", "its layer " + std::string(family->name) + " has no kernel for a GPU"};
}

}  // namespace torchtrt::compiler
