// Tests which attributes lie in memory of their own, and how writes to them are lowered.
#include "lowering/memory/state_memory.h"

#include <gtest/gtest.h>

#include "lowering/lowering.h"

namespace torchtrt::lowering::testing {
namespace {

using torch::jit::Module;

Module moduleWith(const std::string& forward) {
  Module inner("__torch__.Inner");
  inner.register_buffer("cache", torch::zeros({2, 3}));
  Module module("__torch__.Outer");
  const at::Tensor shared = torch::zeros({4, 3});
  module.register_buffer("mean", torch::zeros({3}));
  module.register_buffer("all", shared);
  module.register_buffer("row", shared[1]);
  module.register_buffer("state", torch::zeros({3}));
  module.register_attribute("inner", inner.type(), inner._ivalue());
  module.define(forward + R"(
def reset(self, x: Tensor) -> None:
  self.state = x
)");
  module.eval();
  return module;
}

TEST(StateMemory, TensorsThatOthersNameOrMethodsSetAreNotApart) {
  const Module module = moduleWith("def forward(self, x: Tensor):\n  return x\n");
  EXPECT_EQ(tensorsApart(module), (std::set<std::string>{"inner.cache", "mean"}));
}

std::string lowered(const std::string& forward) {
  LoweringOptions options;
  options.keep_state = true;
  options.verify = true;
  return lower(moduleWith(forward), "forward", options).graph->toString(false);
}

TEST(StateMemory, ReadersBehindAWriteReadWhatWasComputed) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  self.mean.mul_(0.5)
  self.inner.cache[0].add_(x)
  return x - self.mean, self.inner.cache.sum()
)");
  EXPECT_EQ(text.find("aten::mul_"), std::string::npos) << text;
  EXPECT_EQ(text.find("aten::add_"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::copy_"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::select_scatter"), std::string::npos) << text;
}

// Nothing behind the writes can see them, so they come last, and what the second overwrites is not written.
TEST(StateMemory, CopiesComeLastAndOnce) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  y = torch.relu(x)
  self.mean.mul_(0.5).add_(y)
  return torch.tanh(y - self.mean)
)");
  EXPECT_EQ(text.find("aten::copy_"), text.rfind("aten::copy_")) << text;
  EXPECT_LT(text.find("aten::tanh"), text.find("aten::copy_")) << text;
}

// The result of a comparison is cast to what it is written to, which reads nothing of the buffer but its dtype.
TEST(StateMemory, CopiesOfCastsComeLastAndOnce) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  y = torch.relu(x)
  self.mean.mul_(y.double())
  self.mean.add_(y.double())
  return torch.tanh(y - self.mean)
)");
  EXPECT_NE(text.find("aten::copy_"), std::string::npos) << text;
  EXPECT_EQ(text.find("aten::copy_"), text.rfind("aten::copy_")) << text;
  EXPECT_LT(text.find("aten::tanh"), text.find("aten::copy_")) << text;
}

// The first copy shows outside of the part that the second one overwrites.
TEST(StateMemory, CopiesThatAreOverwrittenInPartStay) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  y = torch.relu(x)
  self.inner.cache.add_(y)
  self.inner.cache[0].mul_(y)
  return torch.tanh(y - self.inner.cache)
)");
  EXPECT_NE(text.find("aten::copy_"), text.rfind("aten::copy_")) << text;
}

// The buffer's memory is that of another tensor or list that was made before.
TEST(StateMemory, CopiesStayWhereMemoryGetsOtherNames) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  y = torch.relu(x)
  other = torch.zeros([3])
  other.set_(self.mean)
  self.mean.mul_(0.5)
  z = y - self.mean
  return torch.tanh(other), z
)");
  EXPECT_LT(text.find("_(%mean"), text.find("aten::tanh")) << text;
  const std::string with_list = lowered(R"(
def forward(self, x: Tensor, twice: bool):
  y = torch.relu(x)
  held = [y]
  if twice:
    held.append(self.mean)
  self.mean.mul_(0.5)
  z = y - self.mean
  return torch.stack(held), z
)");
  EXPECT_LT(with_list.find("_(%mean"), with_list.find("aten::stack")) << with_list;
}

// The first copy takes what the second one's buffer holds before it is written.
TEST(StateMemory, CopiesBetweenBuffersKeepTheirOrder) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  y = torch.relu(x)
  self.mean.copy_(self.inner.cache[0])
  self.inner.cache.add_(y)
  return torch.tanh(self.mean), self.inner.cache.sum()
)");
  EXPECT_LT(text.find("aten::tanh"), text.find("copy_(%mean")) << text;
  EXPECT_LT(text.find("copy_(%mean"), text.find("copy_(%cache")) << text;
}

// The caller may pass the buffer itself.
TEST(StateMemory, CopiesComeBeforeTheCallersTensorsAreRead) {
  const std::string text = lowered(R"(
def forward(self, x: Tensor):
  self.mean.mul_(0.5)
  return torch.tanh(x - self.mean)
)");
  EXPECT_LT(text.find("aten::copy_"), text.find("aten::sub")) << text;
}

TEST(StateMemory, WritesStayWhereAnotherNameMayShowThem) {
  for (const std::string name : {"all", "state"}) {
    const std::string text =
        lowered("def forward(self, x: Tensor):\n  self." + name + ".mul_(0.5)\n  return x - self." + name + "\n");
    EXPECT_NE(text.find("aten::mul_"), std::string::npos) << text;
    EXPECT_EQ(text.find("aten::copy_"), std::string::npos) << text;
  }
  const std::string of_the_caller =
      lowered("def forward(self, x: Tensor):\n  self.mean.mul_(0.5)\n  x.add_(1)\n  return x - self.mean\n");
  EXPECT_NE(of_the_caller.find("aten::mul_"), std::string::npos) << of_the_caller;
}

// A write in place costs less than a copy of what was computed elsewhere.
TEST(StateMemory, WritesThatNobodyReadsBehindStay) {
  const std::string text = lowered("def forward(self, x: Tensor):\n  self.mean.mul_(0.5)\n  return torch.relu(x)\n");
  EXPECT_NE(text.find("aten::mul_"), std::string::npos) << text;
}

}  // namespace
}  // namespace torchtrt::lowering::testing
