#include "compiler/module/module_state.h"

#include <gtest/gtest.h>

#include <string>

namespace torchtrt::compiler {
namespace {

// Asks for a module with a flag, a tensor and a list, whose method has this body.
bool leavesState(const std::string& body) {
  torch::jit::Module module("Net");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_attribute("warned", c10::BoolType::get(), false);
  module.register_buffer("kept", torch::zeros({2}));
  module.register_attribute("sizes", c10::ListType::ofInts(), std::vector<int64_t>{1});
  module.define("def forward(self, x):\n" + body);
  lowering::LoweringOptions options;
  options.keep_state = true;
  const lowering::LoweredGraph lowered = lowering::lower(module, "forward", options);
  return callsLeaveState(lowered, partitioning::Roles(lowered.graph));
}

TEST(ModuleState, IsWhatCallsWriteAndRead) {
  EXPECT_TRUE(leavesState("  self.kept = self.kept + x\n  return self.kept\n"));
  EXPECT_TRUE(leavesState("  self.kept.add_(1)\n  return x + self.kept\n"));
  EXPECT_TRUE(leavesState("  self.sizes.append(2)\n  return x * len(self.sizes)\n"));
  EXPECT_TRUE(leavesState("  if self.warned:\n    x = x[:1]\n  self.warned = True\n  return x\n"));
  EXPECT_TRUE(leavesState("  if not self.warned:\n    self.warned = True\n    self.kept = x\n  return self.kept\n"));
}

TEST(ModuleState, IsNotWhatNobodyReads) {
  EXPECT_FALSE(leavesState("  return x + self.kept\n"));
  EXPECT_FALSE(leavesState("  self.kept = x\n  return x + 1\n"));
  EXPECT_FALSE(leavesState("  if not self.warned:\n    self.warned = True\n  return x + 1\n"));
}

TEST(ModuleState, IsNotMemoryOfTheCall) {
  EXPECT_FALSE(
      leavesState("  if not self.warned:\n    self.warned = True\n"
                  "  parts = [x]\n  parts.append(x + 1)\n  return torch.cat(parts)\n"));
}

}  // namespace
}  // namespace torchtrt::compiler
