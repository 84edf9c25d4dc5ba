#include "torchtrt/prepare.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include "runtime/small_module.h"

namespace torchtrt::runtime {
namespace {

torch::jit::GraphExecutor& executorOf(const torch::jit::Module& module) {
  return torch::jit::toGraphFunction(module.get_method("forward").function()).get_executor();
}

TEST(Prepare, PlansWhatOnlyCallsEngines) {
  torch::jit::Module module = moduleThatCalls(smallEngine());
  EXPECT_FALSE(executorOf(module).isOptimized());
  EXPECT_EQ(prepare(module), 1);
  EXPECT_TRUE(executorOf(module).isOptimized());
  const at::Tensor x = at::randn({4, 3});
  EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), smallAnswer(x)));
  EXPECT_TRUE(at::equal(module.forward({x.slice(0, 1)}).toTensor(), smallAnswer(x.slice(0, 1))));
  EXPECT_EQ(prepare(module), 1);
}

TEST(Prepare, LeavesOperatorsToLibtorch) {
  const torch::jit::Module module = moduleThatCalls(smallEngine(), "%z", "\n  %z : Tensor = aten::neg(%x)");
  EXPECT_EQ(prepare(module), 0);
  EXPECT_FALSE(executorOf(module).isOptimized());
}

TEST(Prepare, LeavesTheOldExecutorAlone) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  torch::jit::getExecutorMode() = false;
  EXPECT_EQ(prepare(module), 0);
  torch::jit::getExecutorMode() = true;
}

}  // namespace
}  // namespace torchtrt::runtime
