// Matrix products.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Runs on tensor cores, for results so few that a library takes longer to start than to compute.
kernels::CreateResult createSmallMatmul(const kernels::Problem& problem);
std::optional<Refusal> leaveLargeMatmul(const kernels::Problem& problem);
// Runs on cuBLASLt, if the library is there.
kernels::CreateResult createCublasLtMatmul(const kernels::Problem& problem);
// Runs on tensor cores by whole warpgroups, for many results and constant weights. Timing chooses it.
kernels::CreateResult createWarpgroupMatmul(const kernels::Problem& problem);
// Run on other algorithms of cuBLASLt, which only timing chooses: one that splits no sums, the second or third
// proposal.
kernels::CreateResult createUnsplitMatmul(const kernels::Problem& problem);
kernels::CreateResult createSecondMatmul(const kernels::Problem& problem);
kernels::CreateResult createThirdMatmul(const kernels::Problem& problem);
std::optional<Refusal> leaveToTiming(const kernels::Problem& problem);
kernels::CreateResult createTiledMatmul(const kernels::Problem& problem);
// The plugin torchtrt::GroupedProduct.
kernels::CreateResult createGroupedProduct(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
