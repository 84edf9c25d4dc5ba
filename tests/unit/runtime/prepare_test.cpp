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

// y = relu(x) for x of float32[n]: no weights and no workspace.
c10::intrusive_ptr<Engine> reluEngine(int64_t n) {
  testing::PlanMaker make("relu");
  make.output("y", make.activation("relu", make.input("x", make.dims({n}))));
  plan::fillDefaults(make.plan());
  return Engine::fromPlan(make.plan());
}

TEST(Prepare, CallsNoEngineOfLargeInputs) {
  const CountedCalls counted;
  EXPECT_EQ(prepare(moduleThatCalls(reluEngine(100))), 1);
  EXPECT_EQ(CountedCalls::calls, 1);
  EXPECT_EQ(prepare(moduleThatCalls(reluEngine(int64_t{3} << 18))), 1);  // 3 MB in and 3 MB out
  EXPECT_EQ(prepare(moduleThatCalls(reluEngine(int64_t{1} << 50))), 1);  // more than there is memory
  EXPECT_EQ(CountedCalls::calls, 1);
}

TEST(Prepare, CallsNothingWhereALargeEngineFollows) {
  torch::jit::Module module = moduleThatCalls(reluEngine(int64_t{1} << 50), "%first", R"IR(
  %small : __torch__.torch.classes.tensorrt.Engine = prim::GetAttr[name="small"](%self)
  %list : Tensor[] = prim::ListConstruct(%x)
  %results : Tensor[] = tensorrt::execute_engine(%list, %small)
  %first : Tensor = prim::ListUnpack(%results))IR");
  const c10::IValue small(smallEngine());
  module.register_attribute("small", small.type(), small);
  const CountedCalls counted;
  EXPECT_EQ(prepare(module), 1);
  EXPECT_EQ(CountedCalls::calls, 0);
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

// If libtorch watches no call, the plan that would watch the first one is the last one.
TEST(Prepare, MakesThePlanThatWatchesWhereEnginesAreCalled) {
  const size_t watched = torch::jit::getNumProfiledRuns();
  torch::jit::getNumProfiledRuns() = 0;
  torch::jit::Module module = moduleThatCalls(smallEngine(), "%z", "\n  %z : Tensor = aten::neg(%x)");
  torch::jit::Module calls_none("none");
  calls_none.define("def forward(self, x):\n  return -x\n");
  EXPECT_EQ(prepare(module) + prepare(calls_none), 0);
  torch::jit::getNumProfiledRuns() = watched;
  EXPECT_TRUE(executorOf(module).isOptimized());
  EXPECT_FALSE(executorOf(calls_none).isOptimized());
}

TEST(Prepare, PlansForOtherMethodsChangeNoResult) {
  torch::jit::Module module = moduleThatCalls(smallEngine(), "%z", "\n  %z : Tensor = aten::neg(%x)");
  prepare(module);
  const at::Tensor x = at::randn({4, 3});
  for (int call = 0; call < 3; ++call) {
    EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), smallAnswer(-x)));
  }
}

TEST(Prepare, LeavesTheOldExecutorAlone) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  torch::jit::getExecutorMode() = false;
  EXPECT_EQ(prepare(module), 0);
  torch::jit::getExecutorMode() = true;
}

}  // namespace
}  // namespace torchtrt::runtime
