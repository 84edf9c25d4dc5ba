// The fast implementation of topk, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::topk {

CreateResult createHighway(const Problem& problem);  // float32, whatever the type of the positions

}  // namespace torchtrt::kernels::topk
