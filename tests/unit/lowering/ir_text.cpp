#include "lowering/ir_text.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/passes/canonicalize.h>

#include <regex>

#include "lowering/graph_walk.h"
#include "lowering/pass.h"
#include "lowering/verify.h"

namespace torchtrt::lowering::testing {

namespace {

// libtorch's parser makes tensor constants only where the type says all of shape, strides and device.
std::string withStrides(const std::string& text) {
  static const std::regex shape(R"(Float\(([0-9, ]+)\))");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), shape), end; match != end; ++match) {
    const std::string sizes = (*match)[1];
    std::vector<int64_t> dims;
    std::istringstream stream(sizes);
    for (std::string dim; std::getline(stream, dim, ',');) {
      dims.push_back(std::stoll(dim));
    }
    std::string strides;
    int64_t stride = 1;
    for (auto dim = dims.rbegin(); dim != dims.rend(); stride *= *dim++) {
      strides = std::to_string(stride) + (strides.empty() ? "" : ", ") + strides;
    }
    result.append(rest, (*match)[0].first);
    result += "Float(" + sizes + ", strides=[" + strides + "], requires_grad=0, device=cpu)";
    rest = (*match)[0].second;
  }
  return result.append(rest, text.cend());
}

}  // namespace

std::shared_ptr<torch::jit::Graph> parse(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(withStrides(text), graph.get(), /*parse_tensor_constants=*/true);
  forEachNode(graph->block(), [](torch::jit::Node* node) {
    if (node->kind() == torch::jit::prim::Constant && node->output()->type()->kind() == c10::TypeKind::TensorType) {
      node->t(torch::jit::attr::value).zero_();  // the parser leaves them uninitialised, and small ones are printed
    }
  });
  return graph;
}

std::string textOf(const torch::jit::Graph& graph) {
  return torch::jit::Canonicalize(const_cast<torch::jit::Graph&>(graph).copy(), /*keep_unique_names=*/false)
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
