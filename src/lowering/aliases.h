// libtorch's alias analysis, with what it misses: a loop without a trip hands on the values that it was given, so that
// its results may be those.
#pragma once

#include <memory>

#include <torch/csrc/jit/ir/alias_analysis.h>

namespace torchtrt::lowering {

// Of the graph as it is; is_frozen: attributes are memory too.
torch::jit::AliasDb aliasesOf(const std::shared_ptr<torch::jit::Graph>& graph, bool is_frozen = false);

}  // namespace torchtrt::lowering
