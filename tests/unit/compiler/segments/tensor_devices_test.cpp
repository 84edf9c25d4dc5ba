#include "compiler/segments/tensor_devices.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

namespace torchtrt::compiler {
namespace {

const at::Device kGpu(at::kCUDA, 0);

std::shared_ptr<torch::jit::Graph> parsed(const std::string& body) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(
      "graph(%x : Tensor):\n"
      "  %none : NoneType = prim::Constant()\n"
      "  %false : bool = prim::Constant[value=0]()\n"
      "  %three : int = prim::Constant[value=3]()\n"
      "  %size : int[] = prim::ListConstruct(%three)\n"
      "  %gpu : Device = prim::Constant[value=\"cuda:0\"]()\n"
      "  %cpu : Device = prim::Constant[value=\"cpu\"]()\n" +
          body,
      graph.get());
  return graph;
}

// Kinds of the nodes that stay in PyTorch.
std::set<std::string> refusedIn(const std::string& body, const at::Device& device = kGpu) {
  const auto graph = parsed(body);
  std::set<std::string> kinds;
  for (const auto& [node, refusal] : elsewhere(*graph, device)) {
    EXPECT_EQ(refusal.code, "device");
    kinds.insert(node->kind().toQualString());
  }
  return kinds;
}

using Kinds = std::set<std::string>;

TEST(TensorDevices, RefusesWhatBringsATensorToTheCpuAndWhatReadsItThere) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::cpu(%x)\n"
                      "  %b : Tensor = aten::relu(%a)\n"
                      "  %c : Tensor = aten::sigmoid(%x)\n"
                      "  return (%b, %c)\n"),
            (Kinds{"aten::cpu", "aten::relu"}));
}

TEST(TensorDevices, LeavesATensorThatComesBackToPyTorchOnItsWay) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::cpu(%x)\n"
                      "  %b : Tensor = aten::cuda(%a)\n"
                      "  %c : Tensor = aten::relu(%b)\n"
                      "  return (%c)\n"),
            (Kinds{"aten::cpu", "aten::cuda"}));
}

TEST(TensorDevices, TakesMovesToTheDeviceItself) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::to(%x, %gpu, %none, %false, %false)\n"
                      "  %b : Tensor = aten::cuda(%a)\n"
                      "  return (%b)\n"),
            Kinds());
}

TEST(TensorDevices, TakesWhatIsMadeOnTheCpuAndMoved) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::zeros(%size, %none, %none, %cpu, %none)\n"
                      "  %b : Tensor = aten::relu(%a)\n"
                      "  %c : Tensor = aten::to(%b, %gpu, %none, %false, %false)\n"
                      "  %d : Tensor = aten::mul(%x, %c)\n"
                      "  return (%d)\n"),
            Kinds());
}

TEST(TensorDevices, RefusesWhatIsMadeOnTheCpuAndSeenThere) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::zeros(%size, %none, %none, %none, %none)\n"
                      "  %b : Tensor = aten::relu(%a)\n"
                      "  return (%b)\n"),
            (Kinds{"aten::relu", "aten::zeros"}));
}

TEST(TensorDevices, TakesWhatIsMadeOnTheDevice) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::zeros(%size, %none, %none, %gpu, %none)\n"
                      "  return (%a)\n"),
            Kinds());
}

TEST(TensorDevices, TakesAllOnTheCpuForTheCpu) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::zeros(%size, %none, %none, %none, %none)\n"
                      "  %b : Tensor = aten::cpu(%x)\n"
                      "  return (%a, %b)\n",
                      at::kCPU),
            Kinds());
}

TEST(TensorDevices, RefusesAMoveToAGpuForTheCpu) {
  EXPECT_EQ(refusedIn("  %a : Tensor = aten::to(%x, %gpu, %none, %false, %false)\n"
                      "  return (%a)\n",
                      at::kCPU),
            (Kinds{"aten::to"}));
}

TEST(TensorDevices, AnswersQuestionsAboutTensorsThatAreThere) {
  const auto graph = parsed(
      "  %a : Device = prim::device(%x)\n"
      "  %b : bool = prim::is_cuda(%x)\n"
      "  %c : Tensor = aten::cpu(%x)\n"
      "  %d : bool = prim::is_cuda(%c)\n"
      "  return (%a, %b, %d)\n");
  answerDeviceQuestions(*graph, kGpu);
  EXPECT_EQ(torch::jit::toIValue(graph->outputs()[0])->toDevice(), kGpu);
  EXPECT_TRUE(torch::jit::toIValue(graph->outputs()[1])->toBool());
  EXPECT_FALSE(torch::jit::toIValue(graph->outputs()[2]).has_value()) << "only PyTorch's run says it";
}

}  // namespace
}  // namespace torchtrt::compiler
