// Bound calls of modules: their results, and the watch that sees no allocation, lock or system call in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/script.h>
#include <unistd.h>

#include "runtime/small_module.h"
#include "support/call_watch.h"
#include "torchtrt/prepare.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {
namespace {

using ::testing::HasSubstr;
using torchtrt::testing::Observed;
using torchtrt::testing::watchCall;

// The text of the error of a call that cannot be bound, "" if it can.
std::string errorOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const TorchEngineError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(BoundCall, ReadsAndWritesTheCallersTensors) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  const at::Tensor x = at::randn({4, 3});
  const at::Tensor y = at::empty({4, 3});
  BoundCall call(module, {x}, {y});
  EXPECT_TRUE(call.inputs()[0].is_same(x));
  EXPECT_TRUE(call.outputs()[0].is_same(y));
  EXPECT_TRUE(at::equal(y, smallAnswer(x)));
  x.normal_();
  call.run();
  EXPECT_TRUE(at::equal(y, smallAnswer(x)));
}

TEST(BoundCall, MakesOutputsThatNobodyGave) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  const at::Tensor x = at::randn({7, 3});
  BoundCall call(module, {x});
  BoundCall moved = std::move(call);
  x.normal_();
  moved.run();
  EXPECT_TRUE(at::equal(moved.outputs()[0], smallAnswer(x)));
  EXPECT_FALSE(moved.outputs()[0].requires_grad());
}

TEST(BoundCall, StridedInputsAreReadAsTheyLie) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  const at::Tensor x = at::randn({3, 4}).t();
  BoundCall call(module, {x});
  x.normal_();
  call.run();
  EXPECT_TRUE(at::equal(call.outputs()[0], smallAnswer(x)));
}

TEST(BoundCall, AllocatesNothingAndCallsNobody) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  for (const int64_t batch : {4, 8}) {
    for (const int threads : {1, 2}) {
      BoundCall call(module, {at::randn({batch, 3})}, {}, threads);
      for (int i = 0; i < 100; ++i) {
        const Observed seen = watchCall(threads, [&] { call.run(); });
        EXPECT_TRUE(seen.isQuiet()) << seen.text();
      }
    }
  }
}

// docs/real_time.md says so.
TEST(BoundCall, IsNeededBecauseForwardAllocates) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  torch::jit::Module module = moduleThatCalls(smallEngine());
  prepare(module);
  const std::vector<c10::IValue> arguments = {at::randn({4, 3})};
  module.forward(arguments);
  const Observed seen = watchCall(1, [&] { module.forward(arguments); });
  EXPECT_GT(seen.allocations, 10) << seen.text();
  EXPECT_GT(seen.locks, 0);
}

TEST(BoundCallMisuse, ModulesThatDoMoreAreRefused) {
  const at::Tensor x = at::randn({4, 3});
  EXPECT_THAT(errorOf([&] { BoundCall(moduleThatCalls(smallEngine(), "%z", "\n  %z : Tensor = aten::neg(%x)"), {x}); }),
              HasSubstr("[E012] a call cannot be bound: forward runs aten::neg in PyTorch"));
  torch::jit::Module calls_none("none");
  calls_none.define("def forward(self, x):\n  return x\n");
  EXPECT_THAT(errorOf([&] { BoundCall(calls_none, {x}); }), HasSubstr("forward calls no engine"));
  torch::jit::Module two = moduleThatCalls(smallEngine(), "%first", R"IR(
  %small : __torch__.torch.classes.tensorrt.Engine = prim::GetAttr[name="small"](%self)
  %list : Tensor[] = prim::ListConstruct(%x)
  %results : Tensor[] = tensorrt::execute_engine(%list, %small)
  %first : Tensor = prim::ListUnpack(%results))IR");
  const c10::IValue small(smallEngine());
  two.register_attribute("small", small.type(), small);
  EXPECT_THAT(errorOf([&] { BoundCall(two, {x}); }), HasSubstr("forward calls more than one engine"));
}

TEST(BoundCallMisuse, SaysWhatIsWrongWithATensor) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  const at::Tensor x = at::randn({4, 3});
  const auto error = [&](std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs = {}) {
    return errorOf([&] { BoundCall(module, inputs, outputs); });
  };
  EXPECT_THAT(error({}), HasSubstr("[E003] a call cannot be bound: expected 1 arguments of forward, got 0"));
  EXPECT_THAT(error({at::randn({9, 3})}), HasSubstr("[E005]"));
  EXPECT_THAT(error({at::randn({4, 3}, at::kDouble)}), HasSubstr("[E004]"));
  EXPECT_THAT(error({x._neg_view()}), HasSubstr("input \"x\" is a lazy view or on another device"));
  EXPECT_THAT(error({x}, {at::empty({4, 3}), at::empty({4, 3})}), HasSubstr("expected 1 results of forward, got 2"));
  EXPECT_THAT(error({x}, {at::empty({4, 4})}),
              HasSubstr("result 0 of forward is float32[4, 3] on the CPU, got Float[4, 4]"));
  EXPECT_THAT(error({x}, {at::empty({4, 3}, at::kDouble)}), HasSubstr("got Double[4, 3]"));
  EXPECT_THAT(error({x}, {at::Tensor()}), HasSubstr("got none"));
  EXPECT_THAT(error({x}, {at::empty({3, 4}).t()}), HasSubstr("result 0 of forward is not row-major and dense"));
  EXPECT_THAT(error({x}, {at::empty({4, 3}).requires_grad_()}), HasSubstr("result 0 of forward requires grad"));
  EXPECT_THAT(error({x}, {x}), HasSubstr("output 'y' shares memory with input 'x'"));
  EXPECT_THAT(error({x}, {at::empty({13}).slice(0, 1).view({4, 3})}),
              HasSubstr("output 'y' does not start at a multiple of 64 bytes"));
}

// The child's thread has the bookkeeping of a team that stayed in the parent: it would wait for that.
TEST(BoundCallMisuse, AForkedThreadHasNoTeam) {
  const torch::jit::Module module = moduleThatCalls(smallEngine());
  BoundCall two(module, {at::randn({4, 3})}, {}, 2);
  BoundCall one(module, {at::randn({4, 3})}, {}, 1);
  const pid_t child = fork();
  if (child == 0) {
    const std::string error = errorOf([&] { two.run(); });
    one.run();
    _exit(error.find("this thread came out of a fork") != std::string::npos ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace torchtrt::runtime
