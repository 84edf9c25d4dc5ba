// Running sums, products and extremes along an axis.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createCumulativeReference(const Problem& problem);

}  // namespace torchtrt::kernels
