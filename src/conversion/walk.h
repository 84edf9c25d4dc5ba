// The walk over a block's nodes: evaluators first, then converters, prim::If and prim::Loop where they are decided
// while compiling. For convert() and for converters that are written in TorchScript.
#pragma once

#include "torchtrt/conversion.h"

namespace torchtrt::conversion {

// Converts every node of the block, whose inputs are associated already. An error that a converter throws without a
// place gets the node's.
void convertNodes(ConversionCtx& ctx, const torch::jit::Block& block);
// Converts by an evaluator or the converter for real operands.
void convertReal(ConversionCtx& ctx, const torch::jit::Node& node);

}  // namespace torchtrt::conversion
