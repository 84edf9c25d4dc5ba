// Makes the writes to one tensor functional, of which every name is known.
#pragma once

#include <unordered_set>

#include <torch/script.h>

#include "lowering/passes/view_family.h"

namespace torchtrt::lowering {

// Computes the results of the writes anew, for the readers behind them. Writes themselves go or, if others may see
// them, become copies of what was computed.
void functionalize(torch::jit::Graph& graph, const ViewFamily& family, bool keeps_writes);

// The tensor that a write to the value writes to.
torch::jit::Value* rootOf(torch::jit::Value* written);

// True if somebody sees where a member's elements lie. An in-place operator keeps gaps between its operand's elements,
// and a functional one makes none.
bool showsLayout(const ViewFamily& family, const std::unordered_set<const torch::jit::Node*>& deciders_of_layout);

}  // namespace torchtrt::lowering
