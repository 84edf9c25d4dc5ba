// Reductions over any set of axes.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createReduceReference(const Problem& problem);

}  // namespace torchtrt::kernels
