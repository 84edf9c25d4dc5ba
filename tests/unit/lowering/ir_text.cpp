#include "lowering/ir_text.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/passes/canonicalize.h>

#include "lowering/pass.h"
#include "lowering/verify.h"

namespace torchtrt::lowering::testing {

std::shared_ptr<torch::jit::Graph> parse(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get(), /*parse_tensor_constants=*/true);
  return graph;
}

std::string textOf(const torch::jit::Graph& graph) {
  return torch::jit::Canonicalize(graph.copy(), /*keep_unique_names=*/false)
      ->toString(/*print_source_locations=*/false);
}

void expectPass(const std::string& pass, const std::string& before, const std::string& after) {
  const Pass* found = findPass(pass);
  ASSERT_NE(found, nullptr) << pass;
  const auto graph = parse(before);
  const bool expected_change = textOf(*graph) != textOf(*parse(after));
  EXPECT_EQ(found->run(graph), expected_change) << pass << " has to say whether it changed the graph";
  verify(*graph, pass);
  EXPECT_EQ(textOf(*graph), textOf(*parse(after)));
}

void expectUnchanged(const std::string& pass, const std::string& text) {
  expectPass(pass, text, text);
}

}  // namespace torchtrt::lowering::testing
