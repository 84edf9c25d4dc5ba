// Matrix products.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createTiledMatmul(const kernels::Problem& problem);
// The plugin torchtrt::GroupedProduct.
kernels::CreateResult createGroupedProduct(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
