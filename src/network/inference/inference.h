// Types of a layer's outputs from those of its inputs, symbolically; one function per family of layer kinds. All assume
// that the layer keeps the rules of its kind (src/network/rules): what cannot be computed is refused there, in words.
#pragma once

#include <vector>

#include "network/layer_context.h"

namespace torchtrt::network {

using TensorTypes = std::vector<TensorType>;

TensorTypes inferTypes(const LayerContext& context);

TensorTypes inferConvolution(const LayerContext& context);
TensorTypes inferDeconvolution(const LayerContext& context);
TensorTypes inferPooling(const LayerContext& context);
TensorTypes inferAdaptivePooling(const LayerContext& context);
TensorTypes inferResize(const LayerContext& context);
TensorTypes inferUnary(const LayerContext& context);
TensorTypes inferElementwise(const LayerContext& context);
TensorTypes inferSelect(const LayerContext& context);
TensorTypes inferCast(const LayerContext& context);
TensorTypes inferMatrixMultiply(const LayerContext& context);
TensorTypes inferQuantize(const LayerContext& context);
TensorTypes inferDequantize(const LayerContext& context);
TensorTypes inferQuantizedConvolution(const LayerContext& context);
TensorTypes inferQuantizedMatrixMultiply(const LayerContext& context);
TensorTypes inferReduce(const LayerContext& context);
TensorTypes inferTopK(const LayerContext& context);
TensorTypes inferCumulative(const LayerContext& context);
TensorTypes inferGridSample(const LayerContext& context);
TensorTypes inferRecurrent(const LayerContext& context);
TensorTypes inferShuffle(const LayerContext& context);
TensorTypes inferSlice(const LayerContext& context);
TensorTypes inferExpand(const LayerContext& context);
TensorTypes inferConcatenation(const LayerContext& context);
TensorTypes inferGather(const LayerContext& context);
TensorTypes inferPadding(const LayerContext& context);
TensorTypes inferConstant(const LayerContext& context);
TensorTypes inferFill(const LayerContext& context);
TensorTypes inferPlugin(const LayerContext& context);
TensorTypes inferSameAsInput(const LayerContext& context);

}  // namespace torchtrt::network
