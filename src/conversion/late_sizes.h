// Tensors of the network that show their length when they have been computed (network/counted.h): there is room for
// more than they have, so their dims are not their shape, and nothing in the same network may go on from them.
#pragma once

#include "torchtrt/conversion.h"

namespace torchtrt::conversion {

// Refuses the node that gives such a tensor to this one, unless this one only puts it into a collection or takes it
// out.
void refuseLateSizes(ConversionCtx& ctx, const torch::jit::Node& node);

}  // namespace torchtrt::conversion
