// Tells the module that a node was inlined from, by its path in the module tree: "encoder.layer.0".
#pragma once

#include <string>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// Empty for the outermost module, and for what belongs to none.
TORCHTRT_API std::string modulePath(const torch::jit::Node& node);

}  // namespace torchtrt::lowering
