// Loading modules from files that nobody vouches for: what libtorch would trust is checked before it reads. A damaged
// file is an error then, where torch::jit::load may end the process. A module is a program still: load those alone
// whose makers you trust.
#pragma once

#include <istream>
#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "torchtrt/export.h"

namespace torch::jit {
struct Module;
}

namespace torchtrt {

// Loads as torch::jit::load does. Throws EngineError (kPlanCorrupt) for a damaged file, and libtorch's errors for one
// that it cannot read otherwise.
TORCHTRT_API torch::jit::Module load(const std::string& path, std::optional<c10::Device> device = std::nullopt);
TORCHTRT_API torch::jit::Module load(std::istream& stream, std::optional<c10::Device> device = std::nullopt);

// The checks alone.
TORCHTRT_API void checkModule(const std::string& path);
TORCHTRT_API void checkModule(std::istream& stream);

}  // namespace torchtrt
