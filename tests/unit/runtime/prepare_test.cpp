#include "torchtrt/prepare.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/script.h>

#include "runtime/small_engine.h"

namespace torchtrt::runtime {
namespace {

// A module whose method has the engine run on `operand`, which `body` makes of %x.
torch::jit::Module moduleWith(const std::string& operand, const std::string& body = "") {
  torch::jit::Module module("Net", std::make_shared<torch::jit::CompilationUnit>());
  const c10::IValue engine(smallEngine());
  module.register_attribute("engine", engine.type(), engine);
  const std::string rest = R"IR(
  %engine : __torch__.torch.classes.tensorrt.Engine = prim::GetAttr[name="engine"](%self)
  %inputs : Tensor[] = prim::ListConstruct()IR" +
                           operand + R"IR()
  %outputs : Tensor[] = tensorrt::execute_engine(%inputs, %engine)
  %y : Tensor = prim::ListUnpack(%outputs)
  return (%y))IR";
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR("graph(%self, %x : Tensor):" + body + rest, graph.get());
  graph->inputs()[0]->setType(module.type());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, graph));
  return module;
}

torch::jit::GraphExecutor& executorOf(const torch::jit::Module& module) {
  return torch::jit::toGraphFunction(module.get_method("forward").function()).get_executor();
}

TEST(Prepare, PlansWhatOnlyCallsEngines) {
  torch::jit::Module module = moduleWith("%x");
  EXPECT_FALSE(executorOf(module).isOptimized());
  EXPECT_EQ(prepare(module), 1);
  EXPECT_TRUE(executorOf(module).isOptimized());
  const at::Tensor x = at::randn({4, 3});
  EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), smallAnswer(x)));
  EXPECT_TRUE(at::equal(module.forward({x.slice(0, 1)}).toTensor(), smallAnswer(x.slice(0, 1))));
  EXPECT_EQ(prepare(module), 1);
}

TEST(Prepare, LeavesOperatorsToLibtorch) {
  const torch::jit::Module module = moduleWith("%z", "\n  %z : Tensor = aten::neg(%x)");
  EXPECT_EQ(prepare(module), 0);
  EXPECT_FALSE(executorOf(module).isOptimized());
}

TEST(Prepare, LeavesTheOldExecutorAlone) {
  const torch::jit::Module module = moduleWith("%x");
  torch::jit::getExecutorMode() = false;
  EXPECT_EQ(prepare(module), 0);
  torch::jit::getExecutorMode() = true;
}

}  // namespace
}  // namespace torchtrt::runtime
