// The parts of oneDNN's int8 convolutions and matmuls, and the parts of a layer that their primitives fuse. Empty in a
// build without oneDNN.
#pragma once

#ifndef TORCHTRT_NO_ONEDNN

#include <utility>
#include <vector>

#include "cpu/onednn/onednn.h"
#include "cpu/quantized/requantization.h"

namespace torchtrt::kernels::quantized {

// The parts that both kinds share; each brings its descriptors.
struct Product {
  Requantization definition;
  int32_t zero_point = 0;
  float output_scale = 1;
  int channel_mask = 0;  // of the scales of the weights
  onednn::PackedConstant weights;
};

struct Fusion {
  dnnl::primitive_attr attributes;
  int residual_argument = 0;
  ActivationRows rest;         // of a float32 result: what is left to a second pass
  bool has_functions = false;  // of one element each: see onednn::keepsCode()
  int slope_argument = 0;      // as in onednn::Fusion
  float slope = 0;
  std::vector<std::pair<int, float>> rounding;  // instead of the scale of steps: arguments with their numbers
  int32_t zero_point = 0;                       // of the primitive's result
};

// A number that comes with a call, as an operand of a post-op. rank: of the result.
dnnl::memory::desc describeNumber(int rank);

// residual: of the tensor that is added; rank: of the result; sloped: relu and leaky_relu as a slope.
Fusion fuse(const Product& product, const dnnl::memory::desc& residual, int rank, bool sloped);

}  // namespace torchtrt::kernels::quantized

#endif  // TORCHTRT_NO_ONEDNN
