// Convolutions of small images and matrix products as an engine asks for them, run by a kernel that is named.
#pragma once

#include <string>

#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {

struct Window {
  Ints size = {3, 3}, stride = {1, 1}, padding = {1, 1}, dilation = {1, 1};
};

// Names the operands that a layer adds to its sums, and the activation of these.
struct Beside {
  bool bias = true, residual = false;
  const char* activation = "";
  bool scale = false;
};

Tensor valuesOf(DType dtype, const Ints& dims, uint32_t seed);
// `images`: their number, height and width.
Case convolution(DType dtype, int64_t channels, int64_t outputs, const Window& window, const Beside& beside = {},
                 const Ints& images = {2, 6, 9});
// A product by a transposed matrix: [rows..., depth] times [columns, depth].
Case product(DType dtype, const Ints& rows, int64_t depth, int64_t columns, const Beside& beside = {});
// Weights are constant, and channels of image and output lie next to each other.
Problem asInEngine(const Case& layer);
// Runs the kernel of that name with the first operand, residual and output in these layouts. The first two begin so
// many elements behind where their memory does.
Values resultOf(const Problem& problem, const std::string& implementation, const Case& layer, Layout in, Layout out,
                size_t skipped);
// The kernel is the one that an engine chooses, and agrees with the CPU's reference in every layout.
void expectConvolution(const std::string& implementation, const Case& layer);

}  // namespace torchtrt::kernels::testing
