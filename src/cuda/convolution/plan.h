// A convolution by cuDNN, with what follows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cuda/launch/dnn.h"

namespace torchtrt::cuda {

// Dims and strides of batch, channels and two or three places.
struct DnnTensor {
  DType dtype = DType::kFloat32;
  Ints dims, strides;
};

// An activation of cuDNN's.
struct DnnActivation {
  int mode = dnn::kRelu;
  double slope = 0;  // of relu below zero
  std::optional<double> most;
};

// The layer's fused activation, where cuDNN has one that gives the same bits as they are stored.
std::optional<DnnActivation> dnnActivationOf(const Attributes& attributes, DType dtype);

// y = activation(convolution of x * scale + bias + residual). Of the transposed convolution, x is what the forward one
// gives.
struct DnnProblem {
  bool is_transposed = false;
  DnnTensor x, weights, y;
  Ints stride, pre_padding, post_padding, dilation;
  bool scales = false;  // by float32; the bias is so, too, then
  bool adds_bias = false;
  bool adds_residual = false;  // as y lies
  bool tf32 = false;           // lets float32 factors be rounded to TF32
  std::optional<DnnActivation> activation;

  std::string text() const;  // equal for equal problems
};

// Its pointers: x, weights, y, bias, residual, scale. Null if the library does not start, or computes no such graph.
std::shared_ptr<const DnnPlan> planOf(const CudaDevice& device, const Cudnn& api, const DnnProblem& problem);

}  // namespace torchtrt::cuda
