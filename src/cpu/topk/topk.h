// The k greatest or smallest elements along an axis, with their positions.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createTopKReference(const Problem& problem);

}  // namespace torchtrt::kernels
