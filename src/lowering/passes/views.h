// Operators that give a view of a tensor whatever its memory looks like, and how what is written through one gets into
// the tensor that it is a view of.
#pragma once

#include <torch/script.h>

namespace torchtrt::lowering {

// Returns the value that this one is a view of. For a piece that is the list of pieces, and for that list the tensor
// that was split. For the result of an in-place operator it is what that wrote to. Null if the value is no view, or may
// be a copy.
torch::jit::Value* viewedBy(const torch::jit::Value& value);

// x[:, 1:] is traced as two views, the first of which is all of x. Such ones go: their users use what it is a view of.
// Returns true if there were any.
bool removeWholeSlices(torch::jit::Graph& graph);

// True if the value is a piece, whose parent is a list of pieces.
bool isPiece(const torch::jit::Value& value);

// True if the tensor that the view was taken from follows from the view's elements and its own earlier value.
bool canPutBack(const torch::jit::Value& view);

// The tensor with the part in the view's place, made in front of the node. `whole` is the tensor as it was; of a piece,
// the one that was split.
torch::jit::Value* putBack(const torch::jit::Value& view, torch::jit::Value* whole, torch::jit::Value* part,
                           torch::jit::Node& before);

// The same view of another value, made in front of the node; `whole` as for putBack.
torch::jit::Value* viewAgain(const torch::jit::Value& view, torch::jit::Value* whole, torch::jit::Node& before);

}  // namespace torchtrt::lowering
