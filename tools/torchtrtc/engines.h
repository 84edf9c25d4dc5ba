// The engines inside a compiled module. Finding only: they are run through the module.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"

namespace torchtrtc {

// Attribute path and engine, in the order of the module's attributes.
std::vector<std::pair<std::string, c10::intrusive_ptr<torchtrt::runtime::Engine>>> findEngines(
    const torch::jit::Module& module);

}  // namespace torchtrtc
