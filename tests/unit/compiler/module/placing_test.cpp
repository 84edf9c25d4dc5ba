#include "compiler/module/placing.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

namespace torchtrt::compiler {
namespace {

const at::Device kGpu(at::kCUDA, 0);

DeviceTarget fromCpuToGpu() {
  DeviceTarget target;
  target.device = kGpu;
  return target;
}

TEST(Retarget, LeavesThe0dTensorOfANumberWithItsMark) {
  torch::jit::Graph graph;
  at::Tensor number = at::scalar_tensor(2.5, at::kDouble);
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  graph.registerOutput(graph.insertConstant(number));

  EXPECT_FALSE(retarget(*graph.block(), fromCpuToGpu()));

  const at::Tensor left = torch::jit::toIValue(graph.outputs()[0])->toTensor();
  EXPECT_TRUE(left.unsafeGetTensorImpl()->is_wrapped_number());
  EXPECT_TRUE(left.device().is_cpu());
}

TEST(Retarget, NamesTheTargetInsteadOfTheDeviceOfTheModule) {
  torch::jit::Graph graph;
  graph.registerOutput(graph.insertConstant(at::Device(at::kCPU)));

  EXPECT_TRUE(retarget(*graph.block(), fromCpuToGpu()));

  EXPECT_EQ(torch::jit::toIValue(graph.outputs()[0])->toDevice(), kGpu);
}

TEST(Retarget, LeavesADeviceThatIsTheTarget) {
  torch::jit::Graph graph;
  graph.registerOutput(graph.insertConstant(kGpu));

  EXPECT_FALSE(retarget(*graph.block(), fromCpuToGpu()));
}

}  // namespace
}  // namespace torchtrt::compiler
