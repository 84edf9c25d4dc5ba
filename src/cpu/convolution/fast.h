// The fast implementations of convolution and deconvolution, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::convolution {

CreateResult createDepthwise(const Problem& problem);      // one channel per group, channels-last
CreateResult createGrouped(const Problem& problem);        // four channels per group, channels-last
CreateResult createFewOutputs(const Problem& problem);     // at most four outputs, channels-last
CreateResult createTilesBFloat16(const Problem& problem);  // where the CPU has tiles
CreateResult createPackedGemm(const Problem& problem);     // indirect matrix product
CreateResult createPlanes(const Problem& problem);         // at most eight outputs, row-major
CreateResult createWinograd(const Problem& problem);       // 3x3 kernels, stride 1 or 2, channels-last
CreateResult createOneDnn(const Problem& problem);
CreateResult createOneDnnBFloat16(const Problem& problem);  // where the CPU multiplies bfloat16
CreateResult createOneDnnComputed(const Problem& problem);  // kernels that are no constants
CreateResult createTilesSpread(const Problem& problem);     // bfloat16, kernel = stride, where the CPU has tiles
CreateResult createSpread(const Problem& problem);          // deconvolution with kernel = stride, channels-last
CreateResult createPhases(const Problem& problem);          // a deconvolution as convolutions, channels-last
CreateResult createDeconvolutionOneDnn(const Problem& problem);
CreateResult createDeconvolutionOneDnnComputed(const Problem& problem);

}  // namespace torchtrt::kernels::convolution
