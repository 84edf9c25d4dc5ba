// libtorch's alias analysis, with what it misses of loops: one without a trip hands on the values that it was given,
// and from the second trip on a body is given what the trip before made of them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <torch/csrc/jit/ir/alias_analysis.h>

namespace torchtrt::lowering {

// Analyses the graph as it is; is_frozen: attributes are memory too. Ask it only about values that the graph has now.
torch::jit::AliasDb aliasesOf(const std::shared_ptr<torch::jit::Graph>& graph, bool is_frozen = false);

// Operands and results that may be one tensor though no schema says so: mayReturnOperand of write_origins.h.
using SecretAliases = std::vector<std::pair<torch::jit::Value*, torch::jit::Value*>>;
SecretAliases secretAliasesOf(torch::jit::Graph& graph);

// The values behind all secrets that the value may have part in, by way of other secrets too.
std::vector<const torch::jit::Value*> secretNamesOf(const torch::jit::Value* value, const torch::jit::AliasDb& aliases,
                                                    const SecretAliases& secrets);
// True if somebody writes to what the value holds, under any name.
bool isWritten(const torch::jit::Value* value, const torch::jit::AliasDb& aliases, const SecretAliases& secrets);

}  // namespace torchtrt::lowering
