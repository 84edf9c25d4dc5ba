// Loops that an engine may take over, since constants and sizes say how often they run.
#pragma once

#include <torch/script.h>

namespace torchtrt::lowering {

// True if the number of trips follows from constants and the sizes of tensors and lists.
bool hasKnownTrips(const torch::jit::Node& loop);

}  // namespace torchtrt::lowering
