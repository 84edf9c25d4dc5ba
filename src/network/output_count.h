// Counts a layer's outputs: the table's number, or what its attributes say.
#pragma once

#include "torchtrt/network.h"

namespace torchtrt::network {

// Throws CompileError: kPlugin for a plugin that is not registered, kInvalidNetwork for one that the fields do not
// make.
int outputCount(LayerType type, const Attributes& attributes, const Location& location);

}  // namespace torchtrt::network
