// Layers of the plugins that come with torchtrt, for converters of this folder.
#pragma once

#include <vector>

#include "conversion/converters/call.h"

namespace torchtrt::conversion::converters {

// Adds the plugin torchtrt::<type> with these fields.
Layer* addPlugin(const Call& call, const char* type, const std::vector<Tensor*>& inputs, Attributes fields);

}  // namespace torchtrt::conversion::converters
