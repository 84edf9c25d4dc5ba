// Plugins that have device code of their own: how their kernels tell that a problem is theirs and in order.
#pragma once

#include <optional>

#include "kernels/kernel.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

// Says why a PLUGIN_V2 problem is not one of this plugin with operands that it takes; nothing if it is.
std::optional<Refusal> refuseOtherPlugin(const kernels::Problem& problem, const char* name_space, const char* type);

// Throws EngineError(kPlugin) for operands that do not fit each other or the fields, and for outputs of other types
// than the plugin's: a damaged plan has them.
void checkPluginShapes(const Attributes& attributes, const kernels::ShapeSet& shapes);

}  // namespace torchtrt::cuda
