// Batch, layer, group, instance and root-mean-square normalization.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createNormalizationReference(const Problem& problem);

}  // namespace torchtrt::kernels
