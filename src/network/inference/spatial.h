// Output sizes of windows that slide over one spatial dim, as PyTorch computes them. Shared by inference and rules.
#pragma once

#include "network/layer_context.h"

namespace torchtrt::network {

// One spatial dim of a CONVOLUTION, DECONVOLUTION or POOLING layer.
struct Window {
  Dim size;  // of the kernel
  int64_t stride;
  int64_t pre_padding;
  int64_t post_padding;
  int64_t dilation;
};
// The window of spatial dim i: its attributes, and the size from the kernel operand or the attribute "window".
Window windowOf(const LayerContext& context, int i);

Dim convolutionSize(const Dim& input, const Window& window);
Dim deconvolutionSize(const Dim& input, const Window& window, int64_t output_padding);
Dim poolingSize(const Dim& input, const Window& window, bool ceil_mode);

}  // namespace torchtrt::network
