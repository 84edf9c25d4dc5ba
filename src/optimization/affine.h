// Per-channel arithmetic for folding: what scales and shifts channels (a constant factor or summand, a batch
// normalization), and what can absorb it (a layer with constant weights). Computed in double, rounded once. Weights of
// float16 absorb batch normalizations alone, those of bfloat16 nothing. It recognises and computes; when to fold is for
// the passes to decide.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torchtrt/matchers.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::optimization {

// y[.., c, ..] = scale[c] * x[.., c, ..] + shift[c]
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
  bool hasScale() const;  // any scale other than 1
  bool hasShift() const;  // any shift other than 0
};

// The values of a constant that, broadcast against a tensor of `dims`, varies along `axis` at most: one per channel.
// Nothing if the broadcast would enlarge the tensor or the axis is dynamic.
std::optional<std::vector<double>> channelValues(const network::Tensor* constant, const Dims& dims, int axis);

// The effect of an elementwise sum, sub, prod or div by a constant, or of a batch normalization with constant operands,
// on the channels along `axis` of `input`. A fused activation is not looked at.
struct AffineLayer {
  network::Tensor* input;
  Affine affine;
};
std::optional<AffineLayer> asAffine(const network::Layer& layer, int axis);

// Convolution, deconvolution or matrix multiplication whose kernel is constant and whose bias is constant or absent.
struct WeightedLayer {
  const network::Layer* layer;
  const network::Weights* kernel;
  std::vector<double> bias;  // one per output channel, zeros when absent
  bool has_bias;
  int64_t inputs, outputs;      // channels
  int input_axis, output_axis;  // where they lie in operand 0 and in the output
};
std::optional<WeightedLayer> asWeighted(const network::Layer& layer, bool takes_float16 = false);
// Returns the weighted layer that produces a tensor which nothing else reads. Without activation and residual, it can
// absorb what follows.
std::optional<WeightedLayer> asAbsorbing(const network::Tensor* tensor, bool takes_float16 = false);

// A copy of the layer that reads `input`, with the bias that `weighted` has now and with `kernel`, or with its own
// where that is null. Null, and no edit, if a bias is beyond its dtype.
network::Layer* createWithWeights(rewriting::Rewriter& rewriter, const WeightedLayer& weighted, network::Tensor& input,
                                  const network::Weights* kernel);
// A copy of the layer whose output is affine(output), or whose operand 0 is affine(operand 0) of `input`. Null, and no
// edit, if a weight or bias would overflow.
network::Layer* createWithOutputAffine(rewriting::Rewriter& rewriter, const WeightedLayer& weighted,
                                       const Affine& affine);
network::Layer* createWithInputAffine(rewriting::Rewriter& rewriter, const WeightedLayer& weighted,
                                      const Affine& affine, network::Tensor& input);

// Folds a layer that asAffine() knows into the weights of the layer before it, or of the one before a transpose before
// it, keeping its activation. False, and no edit, where that cannot be. Weights of float16 take batch normalizations
// alone: rounding them once more adds about as much as PyTorch's rounding between the two layers.
bool absorbIntoWeightsBefore(rewriting::Rewriter& rewriter, network::Layer& layer);

// Gives the layer the activation that was fused into `from`.
void copyActivation(rewriting::Rewriter& rewriter, const network::Layer& from, network::Layer& to);

}  // namespace torchtrt::optimization
