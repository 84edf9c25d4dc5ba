// Complex tensors, of which networks have none: while converting they are pairs of real ones, from the operator that
// makes them to those that give real tensors again. None crosses the border of an engine.
#pragma once

#include <optional>
#include <unordered_set>

#include "conversion/ivalues.h"

namespace torchtrt::conversion::complex {

// Values of the block, and of those inside of it, that are or hold complex tensors or numbers, as far as constants and
// operators tell.
std::unordered_set<const torch::jit::Value*> valuesOf(const torch::jit::Block& block);

// True if an operator is converted for complex operands, too.
bool has(const torch::jit::Node& node);
// True if an operator takes them, converted in that way or like real ones.
bool takes(const torch::jit::Node& node);
// Converts a node that has complex operands in its own way; false where it has none or no such way.
bool convert(ConversionCtx& ctx, const torch::jit::Node& node);

// A tensor of either kind, in layers: constants become such. Nothing where the value is no tensor.
std::optional<Parts> partsOf(ConversionCtx& ctx, const torch::jit::Value* value);  // also of a real one: im is null
// Zeros of the tensor's shape and dtype.
network::Tensor* zerosLike(ConversionCtx& ctx, const network::Tensor& tensor);

}  // namespace torchtrt::conversion::complex
