#include "runtime/step_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/csrc/profiler/stubs/base.h>

#include "runtime/execute.h"
#include "runtime/small_engine.h"

namespace torchtrt::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

thread_local std::vector<std::string> recorded;

// Observes this thread as PyTorch's profiler does.
class Observer {
 public:
  Observer()
      : handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(
                [](const at::RecordFunction& record) -> std::unique_ptr<at::ObserverContext> {
                  recorded.emplace_back(record.name());
                  return nullptr;
                },
                [](const at::RecordFunction&, at::ObserverContext*) { recorded.emplace_back("end"); })
                .scopes({at::RecordScope::USER_SCOPE}))) {
    recorded.clear();
  }
  ~Observer() {
    at::removeCallback(handle_);
  }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

 private:
  at::CallbackHandle handle_;
};

std::vector<at::Tensor> callOnce(const c10::intrusive_ptr<Engine>& engine) {
  return executeEngine({at::randn({4, 3})}, engine);
}

TEST(StepEvents, LieInTheEventOfTheirEngine) {
  const auto engine = smallEngine();
  EXPECT_FALSE(StepEvents::areWatched());
  {
    const Observer observer;
    EXPECT_TRUE(StepEvents::areWatched());
    callOnce(engine);
    EXPECT_THAT(recorded, ElementsAre("torchtrt engine small",
                                      MatchesRegex("torchtrt::activation elementwise0 \\+ activation1 \\[[a-z_]+\\]"),
                                      "end", "end"));
  }
  recorded.clear();
  callOnce(engine);
  EXPECT_THAT(recorded, IsEmpty());
}

TEST(StepEvents, EndWhereAStepFails) {
  const Observer observer;
  EXPECT_ANY_THROW(executeEngine({at::randn({4, 5})}, smallEngine()));
  EXPECT_EQ(std::count(recorded.begin(), recorded.end(), "end") * 2, static_cast<long>(recorded.size()));
}

// What PyTorch with CUDA registers, without CUDA.
class FakeRanges final : public torch::profiler::impl::ProfilerStubs {
 public:
  void record(c10::DeviceIndex* /*device*/, torch::profiler::impl::ProfilerVoidEventStub* /*event*/,
              int64_t* /*cpu_ns*/) const override {}
  float elapsed(const torch::profiler::impl::ProfilerVoidEventStub* /*event*/,
                const torch::profiler::impl::ProfilerVoidEventStub* /*event2*/) const override {
    return 0;
  }
  void mark(const char* /*name*/) const override {}
  void rangePush(const char* name) const override {
    ranges.emplace_back(name);
  }
  void rangePop() const override {
    ranges.emplace_back("pop");
  }
  bool enabled() const override {
    return true;
  }
  void onEachDevice(std::function<void(int)> /*op*/) const override {}
  void synchronize() const override {}

  mutable std::vector<std::string> ranges;
};

TEST(StepEvents, AreRangesForNvtxOnRequest) {
  FakeRanges fake;
  auto* const before = const_cast<torch::profiler::impl::ProfilerStubs*>(torch::profiler::impl::cudaStubs());
  torch::profiler::impl::registerCUDAMethods(&fake);
  {
    StepEvents events("net", /*has_ranges=*/true);
    events.begin({"conv_1", "convolution", "direct", {}});
    events.end();
  }
  torch::profiler::impl::registerCUDAMethods(before);
  EXPECT_THAT(fake.ranges, ElementsAre("torchtrt engine net", "torchtrt::convolution conv_1 [direct]", "pop", "pop"));
  EXPECT_FALSE(StepEvents::areRangesAsked());
}

}  // namespace
}  // namespace torchtrt::runtime
