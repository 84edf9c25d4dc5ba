// Names of source files: paths of a machine or a user are shortened, in a module's own copies of its sources.
#include "lowering/source_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include <torch/csrc/jit/ir/irparser.h>

namespace torchtrt::lowering::testing {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Source;
using torch::jit::SourceRange;

TEST(ShownFile, DropsTheFoldersOfMachinesAndUsers) {
  EXPECT_EQ(shownFile("/home/ada/.venv/lib/python3.11/site-packages/torch/nn/functional.py"), "torch/nn/functional.py");
  EXPECT_EQ(shownFile("/usr/lib/python3/dist-packages/torch/nn/functional.py"), "torch/nn/functional.py");
  EXPECT_EQ(shownFile((std::filesystem::current_path() / "nets" / "model.py").string()), "nets/model.py");
  EXPECT_EQ(shownFile("/home/ada/secret/model.py"), "model.py");
}

TEST(ShownFile, LeavesTheRest) {
  for (const std::string file : {"", "model.py", "nets/model.py", "<string>", "code/__torch__.py"}) {
    EXPECT_EQ(shownFile(file), file);
  }
}

TEST(ShowSourceFiles, CopiesSourcesOfNodesInAllBlocks) {
  Graph graph;
  torch::jit::parseIR(R"(graph(%x : Tensor, %c : bool):
  %y : Tensor = prim::If(%c)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      -> (%x)
  return (%y))",
                      &graph);
  const auto source = std::make_shared<Source>("def f(x):\n  return relu(x)\n", "/home/ada/model.py", 40);
  Node* const branch = *graph.nodes().begin();
  Node* const inner = *branch->blocks().at(0)->nodes().begin();
  for (Node* node : {branch, inner, graph.return_node()}) {
    node->setSourceRange(SourceRange(source, 12, 26));
  }
  showSourceFiles(*graph.block());
  for (Node* node : {branch, inner, graph.return_node()}) {
    const auto line = node->sourceRange().file_line_col();
    ASSERT_TRUE(line);
    EXPECT_EQ(*line, std::make_tuple("model.py", size_t{41}, size_t{2}));
    EXPECT_EQ(node->sourceRange().text().str(), "return relu(x)");
  }
  EXPECT_EQ(branch->sourceRange().source(), inner->sourceRange().source()) << "one copy for each source";
  EXPECT_EQ(*source->filename(), "/home/ada/model.py");
}

TEST(ShowSourceFiles, LeavesRangesWithoutFile) {
  Graph graph;
  torch::jit::parseIR("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)", &graph);
  Node* const node = *graph.nodes().begin();
  const auto source = node->sourceRange().source();
  showSourceFiles(*graph.block());
  EXPECT_EQ(node->sourceRange().source(), source);
}

}  // namespace
}  // namespace torchtrt::lowering::testing
