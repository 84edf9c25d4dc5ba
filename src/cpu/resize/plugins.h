// The plugin behind antialiased resizing, of images [n,c,h,w] in float32, float64 and uint8.
//
// torchtrt::AntialiasedResize: fields mode (linear, cubic), size (height and width), align_corners and scales (two
// scale factors, 0 where only the size counts). Weights are PyTorch's, and bytes equal PyTorch's to the bit: width
// first, each axis rounded.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::resize {

std::shared_ptr<const plugin::PluginCreator> createAntialiasedResizeCreator();

}  // namespace torchtrt::kernels::resize
