// Where a node was inlined from: the path of its module, "encoder.layer.0", as the module tree has it.
#pragma once

#include <string>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// Empty for the outermost module, and for what belongs to none.
TORCHTRT_API std::string modulePath(const torch::jit::Node& node);

}  // namespace torchtrt::lowering
