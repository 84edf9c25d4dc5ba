// Convolutions of tests, written as the problem lines that logs print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {

struct Convolution {
  std::vector<int64_t> input;        // [N, C, d...]
  std::vector<int64_t> kernel;       // [K, C/g, k...]
  std::vector<int64_t> stride = {};  // all 1 when empty; so are dilations, and paddings are 0
  std::vector<int64_t> pre_padding = {};
  std::vector<int64_t> post_padding = {};
  std::vector<int64_t> dilation = {};
  int64_t groups = 1;
  bool bias = true;
  bool residual = false;
  bool scale = false;  // bias and scale are of float32, the others of `dtype`
  const char* dtype = "float32";
  bool dynamic = false;         // batch and spatial dims
  bool computed = false;        // the kernel is no constant
  std::string activation = "";  // with its alpha and beta: ", activation=..."
  const char* input_order = "@0231";
  const char* output_order = "@0231";
};

std::string toText(const Convolution& convolution);

// Compares with the reference: exactly where rtol is 0, with values whose sums are exact.
void check(const char* implementation, const Convolution& convolution, double rtol = 0);

}  // namespace torchtrt::kernels
