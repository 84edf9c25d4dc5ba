// Checks of a convolution's window, groups and channels, whatever its dtypes are. Each returns "" or "expected ...,
// got ..."; each assumes those before it.
#pragma once

#include <string>

#include "network/layer_context.h"

namespace torchtrt::network {

std::string checkConvolutionRank(const LayerContext& context);
std::string checkConvolutionWindow(const LayerContext& context);
std::string checkGroups(const LayerContext& context);
std::string checkConvolutionChannels(const LayerContext& context);
std::string checkConvolutionOutput(const LayerContext& context);

}  // namespace torchtrt::network
