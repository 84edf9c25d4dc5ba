#include "torchtrt/prepare.h"

#include <ATen/record_function.h>
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

// Calls of engines while it lives.
class CountedCalls {
 public:
  CountedCalls()
      : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(count).scopes({at::RecordScope::FUNCTION}))) {
    calls = 0;
  }
  ~CountedCalls() {
    at::removeCallback(handle_);
  }
  CountedCalls(const CountedCalls&) = delete;
  CountedCalls& operator=(const CountedCalls&) = delete;

  static inline int calls = 0;

 private:
  static std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function) {
    calls += std::string(function.name()) == "tensorrt::execute_engine" ? 1 : 0;
    return nullptr;
  }

  at::CallbackHandle handle_;
};

TEST(Prepare, CallsSmallEnginesOnce) {
  const CountedCalls counted;
  prepare(moduleThatCalls(smallEngine()));
  EXPECT_EQ(CountedCalls::calls, 1);
}

TEST(Prepare, CallsNothingWithArgumentsThatReachNoEngine) {
  const CountedCalls counted;
  EXPECT_EQ(prepare(moduleThatCalls(smallEngine(), "%x", "", "%self, %unread : Tensor, %x : Tensor")), 1);
  EXPECT_EQ(CountedCalls::calls, 0);
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
