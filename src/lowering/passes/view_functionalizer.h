// Makes the writes to one tensor functional, of which every name is known.
#pragma once

#include <unordered_set>

#include <torch/script.h>

#include "lowering/passes/view_family.h"

namespace torchtrt::lowering {

// What the writes make is computed anew, and read by who reads behind them. Writes themselves go or, where others may
// see them, become copies of what was computed.
void functionalize(torch::jit::Graph& graph, const ViewFamily& family, bool keeps_writes);

// The tensor that a write to the value writes to.
torch::jit::Value* rootOf(torch::jit::Value* written);

// Whether somebody sees where a member's elements lie: an in-place operator leaves gaps between its operand's elements
// where they are, and a functional one makes none.
bool showsLayout(const ViewFamily& family, const std::unordered_set<const torch::jit::Node*>& deciders_of_layout);

}  // namespace torchtrt::lowering
