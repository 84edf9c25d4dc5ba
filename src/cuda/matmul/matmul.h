// Matrix products.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Runs on cuBLASLt, if the library is there.
kernels::CreateResult createCublasLtMatmul(const kernels::Problem& problem);
kernels::CreateResult createTiledMatmul(const kernels::Problem& problem);
// The plugin torchtrt::GroupedProduct.
kernels::CreateResult createGroupedProduct(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
