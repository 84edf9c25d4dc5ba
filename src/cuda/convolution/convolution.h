// Convolution and deconvolution.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Runs on cuDNN, if the library is there.
kernels::CreateResult createCudnnConvolution(const kernels::Problem& problem);
kernels::CreateResult createCudnnDeconvolution(const kernels::Problem& problem);
// Runs on cuBLASLt, for windows that lie side by side.
kernels::CreateResult createPatches(const kernels::Problem& problem);
std::optional<Refusal> leavePatches(const kernels::Problem& problem);
// Runs on cuBLASLt, for filters of one tap.
kernels::CreateResult createOneTap(const kernels::Problem& problem);
std::optional<Refusal> leaveOneTap(const kernels::Problem& problem);
// Runs on tensor cores, for images of fewer than eight channels.
kernels::CreateResult createFewChannels(const kernels::Problem& problem);
std::optional<Refusal> leaveFewChannels(const kernels::Problem& problem);
// Runs on tensor cores, for results so few that a library takes longer to start than to compute.
kernels::CreateResult createSmallConvolution(const kernels::Problem& problem);
std::optional<Refusal> leaveLargeConvolution(const kernels::Problem& problem);
// Runs in float32 by tiles, where TF32 is not allowed. Timing chooses it.
kernels::CreateResult createFloatTiles(const kernels::Problem& problem);
// Depthwise, of channels that lie next to each other.
kernels::CreateResult createDepthwise(const kernels::Problem& problem);
std::optional<Refusal> leaveDepthwise(const kernels::Problem& problem);
kernels::CreateResult createDirectConvolution(const kernels::Problem& problem);
kernels::CreateResult createDirectDeconvolution(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
