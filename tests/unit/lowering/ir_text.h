// Lowering tests as text: a graph goes in, a pass or the whole pipeline runs, the graph that comes out is compared.
// Names of values do not matter. Tensor constants are written `Float(2, 3) = prim::Constant[value=<Tensor>]()` and are
// zeros.
#pragma once

#include <memory>
#include <string>

#include <torch/script.h>

namespace torchtrt::lowering::testing {

std::shared_ptr<torch::jit::Graph> parse(const std::string& text);
// The graph with values numbered in order and without source lines.
std::string textOf(const torch::jit::Graph& graph);

// Runs one pass, verifies the graph, and checks that the pass said truly whether it changed anything.
void expectPass(const std::string& pass, const std::string& before, const std::string& after);
void expectUnchanged(const std::string& pass, const std::string& text);

}  // namespace torchtrt::lowering::testing
