#include "compiler/module/plain_run.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/api/function_impl.h>

#include "base/checkpoint.h"

namespace torchtrt::compiler {
namespace {

torch::jit::Module counter() {
  torch::jit::Module module("Counter");
  module.register_buffer("calls", at::zeros({1}));
  module.define(R"(
    def scaled(self, x, by: float = 2.0):
        return x * by

    def forward(self, x, by: float = 3.0):
        self.calls.add_(1)
        for i in range(int(x.sum())):
            x = self.scaled(x)
        return self.scaled(x, by)
)");
  return module;
}

TEST(PlainRun, CallsAMethodAsPyTorchDoes) {
  torch::jit::Module module = counter();
  const PlainMethod forward(module, "forward");
  EXPECT_TRUE(at::equal(forward({at::ones({2})}).toTensor(), at::full({2}, 12.F)));
  EXPECT_TRUE(at::equal(forward({at::ones({1}), 5.0}).toTensor(), at::full({1}, 10.F)));
  EXPECT_TRUE(at::equal(module.attr("calls").toTensor(), at::full({1}, 2.F)));
  EXPECT_THROW(forward({}), c10::Error);
}

TEST(PlainRun, DoesNotStartTheProfilingExecutor) {
  torch::jit::Module module = counter();
  const PlainMethod forward(module, "forward");
  for (int run = 0; run < 3; ++run) {
    forward({at::ones({2})});
  }
  const auto state = [&] {
    return torch::jit::toGraphFunction(module.get_method("forward").function()).getDebugState();
  };
  EXPECT_THROW(state(), c10::Error) << "libtorch describes executors that have run alone";
  for (int run = 0; run < 3; ++run) {
    module.forward({at::ones({2})});
  }
  EXPECT_NO_THROW(state());
}

TEST(PlainRun, PassesACheckpointBeforeEveryNodeAndLeavesNothingEntered) {
  torch::jit::Module module("Long");
  module.define(R"(
    def forward(self, x):
        for i in range(1000000000):
            x = x + 1
        return x
)");
  const PlainMethod forward(module, "forward");
  bool is_first = true;
  const CheckpointScope scope([&] {
    if (!is_first) {
      throw 7;
    }
    is_first = false;
  });
  EXPECT_THROW(forward({at::ones({2})}), Interruption);
}

}  // namespace
}  // namespace torchtrt::compiler
