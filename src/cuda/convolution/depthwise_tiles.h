// Depthwise convolutions by large windows: blocks stage what their windows read.
#pragma once

#include <memory>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// The channels that a thread may take at once: 16 bytes, where they lie next to each other in both images.
int64_t chunkOfChannels(const kernels::TensorDesc& in, const kernels::TensorDesc& out);

// Launches of a convolution with `weights` [height, width, channels], for operands that begin at multiples of 16 bytes.
// Null for small windows, whose places are read by each thread, and for channels that do not lie in chunks.
std::unique_ptr<Launches> prepareDepthwiseTiles(const Layer& layer, const kernels::ShapeSet& shapes,
                                                DevicePointer weights);

}  // namespace torchtrt::cuda
