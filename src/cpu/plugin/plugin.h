// The PLUGIN_V2 layer: runs an operator of the user's own. Its interface and registry are in torchtrt/plugin.h.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createPluginReference(const Problem& problem);

}  // namespace torchtrt::kernels
