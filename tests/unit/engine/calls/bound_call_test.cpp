// Bound calls, and the proof that they are for real time: a watch that sees each allocation, lock and system call of a
// call sees none, and sees all that a plugin with planted violations does.
#include "engine/calls/bound_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "base/align.h"
#include "cpu/plugin/built_in.h"
#include "cpu/threads/parallel.h"
#include "engine/load.h"
#include "support/call_watch.h"
#include "support/counted_plan.h"
#include "support/deferred_backend.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {
namespace {

using testing::errorOf;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::Observed;
using testing::PlanMaker;
using testing::watchCall;

const LoadOptions kRealTime = {.real_time = true};

// Memory that an engine writes.
struct Result {
  alignas(kAlignment) std::array<float, 4096> values{};
};

std::unique_ptr<BoundCall> bind(const LoadedEngine& engine, const std::vector<HostTensor>& inputs,
                                std::vector<void*> outputs, int threads = 1) {
  return engine.bind(testing::viewsOf(inputs), outputs, threads);
}

std::shared_ptr<const LoadedEngine> smallOnCpu(LoadOptions options = {}) {
  PlanMaker make("small");
  const plan::Register n = make.symbol("n", 0, 4, 8);
  const int32_t x = make.input("x", {n, make.number(3)});
  const int32_t sum = make.elementwise("sum", x, make.floats("w", {3}, {1, -2, 3}));
  make.output("y", make.activation("relu", sum));
  return loadMade(make, options, device::cpu());
}

// Steps that have a workspace, scratch memory and loops for several threads: a convolution, its pooling, a product and
// softmax.
std::shared_ptr<const LoadedEngine> networkOnCpu() {
  PlanMaker make("network");
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const plan::Register sixteen = make.number(16);
  const int32_t x = make.input("x", {n, make.number(3), sixteen, sixteen});
  const int32_t last = reorder(make, x, kChannelsLast);
  const int32_t filters = make.floats("filters", {32, 3, 3, 3}, randomFloats(32 * 27, 1));
  const int32_t image = make.step("convolution", {last, filters}, {n, make.number(32), sixteen, sixteen},
                                  {{"stride", std::vector<int64_t>{1, 1}},
                                   {"pre_padding", std::vector<int64_t>{1, 1}},
                                   {"post_padding", std::vector<int64_t>{1, 1}},
                                   {"dilation", std::vector<int64_t>{1, 1}},
                                   {"activation", std::string("relu")}});
  make.at(image).order = kChannelsLast;
  const int32_t rows = make.view("rows", reorder(make, image, {}), {n, make.number(32 * 256)});
  const int32_t weights = make.floats("weights", {32 * 256, 64}, randomFloats(int64_t{32} * 256 * 64, 2));
  const int32_t product = make.step("matrix_multiply", {rows, weights}, {n, make.number(64)});
  make.output("y", make.step("softmax", {product}, {n, make.number(64)}, {{"axis", int64_t{1}}}));
  return loadMade(make, kRealTime, device::cpu());
}

TEST(BoundCall, ReadsAndWritesWhereItWasBound) {
  const auto engine = smallOnCpu();
  std::vector<HostTensor> x = {HostTensor({2, 3}, {0, 0, 0, 1, 1, 1})};
  Result y;
  const auto call = bind(*engine, x, {y.values.data()});
  EXPECT_EQ(std::vector<float>(y.values.begin(), y.values.begin() + 6), (std::vector<float>{1, 0, 3, 2, 0, 4}));
  x[0].values = {5, 5, 5, 6, 6, 6};  // keeps its place: a vector of the same size
  call->run();
  EXPECT_EQ(std::vector<float>(y.values.begin(), y.values.begin() + 6), (std::vector<float>{6, 3, 8, 7, 4, 9}));
}

TEST(BoundCall, HoldsItsScheduleAndItsModel) {
  auto engine = smallOnCpu({.shape_cache_bytes = 1});
  const std::vector<HostTensor> one = {HostTensor({1, 3}, {1, 2, 3})};
  const std::vector<HostTensor> three = {HostTensor({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
  Result of_one;
  Result of_three;
  const auto first = bind(*engine, one, {of_one.values.data()});
  const auto second = bind(*engine, three, {of_three.values.data()});
  engine.reset();
  of_one.values.fill(0);
  of_three.values.fill(0);
  first->run();
  second->run();
  EXPECT_EQ(of_one.values[2], 6);
  EXPECT_EQ(of_one.values[3], 0);
  EXPECT_EQ(of_three.values[8], 12);
}

TEST(BoundCall, ComputesWhatACallDoes) {
  const auto engine = networkOnCpu();
  for (const int64_t batch : {1, 3}) {
    const std::vector<HostTensor> x = {HostTensor({batch, 3, 16, 16}, randomFloats(batch * 768, 3))};
    for (const int threads : {1, 2}) {
      Result y;
      bind(*engine, x, {y.values.data()}, threads)->run();
      const std::vector<float> expected = testing::callEngine(*engine, x, threads)[0].values();
      EXPECT_EQ(std::vector<float>(y.values.begin(), y.values.begin() + batch * 64), expected);
    }
  }
}

// Each of so many calls, since threads take turns in their work.
constexpr int kCalls = 200;

TEST(BoundCall, AllocatesNothingAndCallsNobody) {
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  const auto engine = networkOnCpu();
  const std::vector<HostTensor> x = {HostTensor({2, 3, 16, 16}, randomFloats(2 * 768, 3))};
  for (const int threads : {1, 2}) {
    Result y;
    const auto call = bind(*engine, x, {y.values.data()}, threads);
    for (int i = 0; i < kCalls; ++i) {
      const Observed seen = watchCall(threads, [&] { call->run(); });
      EXPECT_TRUE(seen.isQuiet()) << threads << " threads: " << seen.text();
      EXPECT_TRUE(threads > 1 || seen.pool_calls == 0) << "one thread wakes nobody";
    }
  }
}

TEST(BoundCall, IsReadyInAThreadThatPrepared) {
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  const auto engine = networkOnCpu();
  const std::vector<HostTensor> x = {HostTensor({2, 3, 16, 16}, randomFloats(2 * 768, 3))};
  Result y;
  const auto call = bind(*engine, x, {y.values.data()}, 2);
  std::thread([&] {
    call->prepareThread();
    for (int i = 0; i < kCalls; ++i) {
      const Observed seen = watchCall(2, [&] { call->run(); });
      EXPECT_TRUE(seen.isQuiet()) << seen.text();
    }
  }).join();
}

// y = x, and whatever a test plants between. It says that it is for real time.
class Planted final : public plugin::Plugin, public kernels::RunsInRealTime {
 public:
  static inline std::function<void()> act = [] {};

  bool supports(std::span<const DType>) const override {
    return true;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  void enqueue(std::span<const plugin::InputView> inputs, std::span<const plugin::OutputView> outputs, void*,
               int) const override {
    act();
    *static_cast<float*>(outputs[0].data) = *static_cast<const float*>(inputs[0].data);
  }
};

// The same of a user's: nothing is known about it.
class Unknown final : public plugin::Plugin {
 public:
  bool supports(std::span<const DType>) const override {
    return true;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  void enqueue(std::span<const plugin::InputView>, std::span<const plugin::OutputView>, void*, int) const override {}
};

template <typename PluginType>
class Creator final : public plugin::PluginCreator {
 public:
  explicit Creator(std::string type) : type_(std::move(type)) {}
  std::string pluginNamespace() const override {
    return "test";
  }
  std::string type() const override {
    return type_;
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes&) const override {
    return std::make_unique<PluginType>();
  }

 private:
  std::string type_;
};

std::shared_ptr<const LoadedEngine> withPlugin(const std::string& type, const LoadOptions& options) {
  static const bool known [[maybe_unused]] = [] {
    plugin::PluginRegistry::global().add(std::make_shared<Creator<Planted>>("Planted"));
    plugin::PluginRegistry::global().add(std::make_shared<Creator<Unknown>>("Unknown"));
    return true;
  }();
  PlanMaker make("planted");
  const int32_t x = make.input("x", make.dims({1}));
  make.output("y", make.step("plugin_v2", {x}, make.dims({1}),
                             {{"namespace", std::string("test")}, {"type", type}, {"version", std::string("1")}}));
  return loadMade(make, options, device::cpu());
}

// A call during which `violation` happens, in the middle of it.
Observed watchPlanted(std::function<void()> violation) {
  const auto engine = withPlugin("Planted", kRealTime);
  const std::vector<HostTensor> x = {HostTensor({1}, {7})};
  Result y;
  const auto call = bind(*engine, x, {y.values.data()});
  EXPECT_TRUE(watchCall(1, [&] { call->run(); }).isQuiet()) << "nothing is planted yet";
  Planted::act = std::move(violation);
  const Observed seen = watchCall(1, [&] { call->run(); });
  Planted::act = [] {};
  EXPECT_EQ(y.values[0], 7);
  return seen;
}

TEST(BoundCallWatch, SeesOneAllocation) {
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  const Observed seen = watchPlanted([] { ::operator delete(::operator new(64)); });
  EXPECT_FALSE(seen.isQuiet());
  EXPECT_EQ(seen.allocations, 1);
  EXPECT_EQ(seen.frees, 1);
  EXPECT_EQ(seen.locks, 0);
  EXPECT_THAT(seen.text(), HasSubstr("1 allocations, 1 frees, 0 locks"));
}

// Another thread holds the mutex until it sees that somebody waits.
TEST(BoundCallWatch, SeesAContendedLock) {
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  std::mutex mutex;
  std::barrier held(2);
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    held.arrive_and_wait();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  held.arrive_and_wait();
  const Observed seen = watchPlanted([&] { const std::lock_guard lock(mutex); });
  holder.join();
  EXPECT_FALSE(seen.isQuiet());
  EXPECT_EQ(seen.allocations, 0);
  EXPECT_EQ(seen.locks, 1);
  EXPECT_THAT(seen.system_calls, ::testing::Contains(HasSubstr("futex in libc"))) << "it waited: " << seen.text();
  EXPECT_EQ(seen.pool_calls, 0) << "the pool's own waits come from elsewhere";
}

TEST(BoundCallWatch, SeesALockThatNobodyElseHolds) {
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  std::mutex mutex;
  const Observed seen = watchPlanted([&] { const std::lock_guard lock(mutex); });
  EXPECT_FALSE(seen.isQuiet());
  EXPECT_EQ(seen.locks, 1);
  EXPECT_TRUE(seen.system_calls.empty());
}

TEST(BoundCallWatch, SeesOneSystemCall) {
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  pid_t parent = 0;
  const Observed seen = watchPlanted([&] { parent = getppid(); });
  EXPECT_FALSE(seen.isQuiet());
  EXPECT_EQ(seen.allocations, 0);
  ASSERT_EQ(seen.system_calls.size(), 1U);
  EXPECT_THAT(seen.system_calls[0], HasSubstr("getppid in libc"));
  EXPECT_EQ(parent, getppid()) << "it was made all the same";
}

// Of a thread that helps, and made by an instruction of its own, as the C library's are.
TEST(BoundCallWatch, SeesTheSystemCallsOfEveryThread) {
#ifdef TORCHTRT_NO_OPENMP
  GTEST_SKIP() << "without OpenMP there is no team to watch";
#endif
  if (const auto why = testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  std::atomic<int> made = 0;
  const Observed seen =
      watchCall(2, [&] { kernels::onEachThread(2, [&] { made += syscall(SYS_getppid) > 0 ? 1 : 0; }); });
  EXPECT_EQ(made, 2);
  EXPECT_EQ(seen.system_calls.size(), 2U) << seen.text();
}

TEST(BoundCall, IsOneThreadsAtATime) {
  const auto engine = withPlugin("Planted", kRealTime);
  const std::vector<HostTensor> x = {HostTensor({1}, {7})};
  Result y;
  const auto call = bind(*engine, x, {y.values.data()});
  std::barrier inside(2);
  std::barrier told(2);
  Planted::act = [&] {
    inside.arrive_and_wait();
    told.arrive_and_wait();
  };
  std::thread first([&] { call->run(); });
  inside.arrive_and_wait();
  EXPECT_THAT(errorOf([&] { call->run(); }), HasSubstr("[E013] engine 'planted': two threads run one bound call"));
  told.arrive_and_wait();
  first.join();
  Planted::act = [] {};
  EXPECT_EQ(errorOf([&] { call->run(); }), "") << "it is free again";
}

TEST(BoundCall, ThreadsBindCallsOfTheirOwn) {
  const auto engine = networkOnCpu();
  const std::vector<HostTensor> x = {HostTensor({2, 3, 16, 16}, randomFloats(2 * 768, 3))};
  const std::vector<float> expected = testing::callEngine(*engine, x)[0].values();
  std::array<Result, 3> results;
  std::vector<std::thread> threads;
  for (Result& result : results) {
    threads.emplace_back([&] {
      const auto call = bind(*engine, x, {result.values.data()});
      for (int i = 0; i < 20; ++i) {
        call->run();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Result& result : results) {
    EXPECT_EQ(std::vector<float>(result.values.begin(), result.values.begin() + 128), expected);
  }
}

TEST(BoundCall, IsFreeAfterAFault) {
  PlanMaker make("faulty");
  const int32_t x = make.input("x", make.dims({1}), DType::kInt64);
  make.output("y", make.step("elementwise", {make.weight("one", {1}, std::vector<int64_t>{1}, DType::kInt64), x},
                             make.dims({1}), {{"op", std::string("floor_div")}}, DType::kInt64));
  const auto engine = loadMade(make, {}, device::cpu());
  const int64_t dims = 1;
  int64_t value = 1;
  Result y;
  const TensorView view{DType::kInt64, 1, &dims, &dims, &value};
  const std::vector<void*> outputs = {y.values.data()};
  const auto call = engine->bind({&view, 1}, outputs, 1);
  value = 0;
  EXPECT_THAT(errorOf([&] { call->run(); }), HasSubstr("[E011]"));
  value = 1;
  EXPECT_EQ(errorOf([&] { call->run(); }), "");
}

TEST(BoundCallMisuse, SaysWhatIsWrongWithTheMemory) {
  const auto engine = smallOnCpu();
  const std::vector<HostTensor> x = {HostTensor({2, 3}, {0, 0, 0, 1, 1, 1})};
  Result y;
  const auto error = [&](std::vector<void*> outputs) { return errorOf([&] { bind(*engine, x, std::move(outputs)); }); };
  EXPECT_THAT(error({}), HasSubstr("[E012] a call of engine 'small' cannot be bound: expected memory for 1 outputs"));
  EXPECT_THAT(error({y.values.data() + 1}), HasSubstr("output 'y' does not start at a multiple of 64 bytes"));
  EXPECT_THAT(error({nullptr}), HasSubstr("output 'y' does not start at a multiple of 64 bytes"));
  const std::vector<HostTensor> wrong = {HostTensor({9, 3}, std::vector<float>(27))};
  EXPECT_THAT(errorOf([&] { bind(*engine, wrong, {y.values.data()}); }), HasSubstr("[E005]"));
  const int64_t dims[] = {2, 3};
  const int64_t strides[] = {3, 1};
  const TensorView inside{DType::kFloat32, 2, dims, strides, y.values.data() + 4};
  const std::vector<void*> outputs = {y.values.data()};
  EXPECT_THAT(errorOf([&] {
                engine->bind({&inside, 1}, outputs, 1);
              }),
              HasSubstr("output 'y' shares memory with input 'x'"));
  const TensorView nowhere{DType::kFloat32, 2, dims, strides, nullptr};
  EXPECT_THAT(errorOf([&] { engine->bind({&nowhere, 1}, outputs, 1); }), HasSubstr("input 'x' has no memory"));
}

TEST(BoundCallMisuse, OutputsLieApart) {
  PlanMaker make("two");
  const int32_t x = make.input("x", make.dims({4}));
  make.output("a", make.activation("relu", x));
  make.output("b", make.activation("tanh", x));
  const auto engine = loadMade(make, {}, device::cpu());
  const std::vector<HostTensor> given = {HostTensor({4}, {1, 2, 3, 4})};
  Result y;
  EXPECT_THAT(errorOf([&] {
                bind(*engine, given, {y.values.data(), y.values.data()});
              }),
              HasSubstr("output 'b' shares memory with output 'a'"));
  EXPECT_EQ(errorOf([&] { bind(*engine, given, {y.values.data(), y.values.data() + 16}); }), "");
}

TEST(BoundCallMisuse, AnEmptyBatchHasNoMemory) {
  const auto engine = smallOnCpu();
  const std::vector<HostTensor> x = {HostTensor({0, 3}, {})};
  const auto call = bind(*engine, x, {nullptr});
  EXPECT_EQ(errorOf([&] { call->run(); }), "");
}

TEST(BoundCallMisuse, PluginsOfUsersAreRefused) {
  EXPECT_THAT(errorOf([] { withPlugin("Unknown", kRealTime); }),
              ::testing::AllOf(HasSubstr("[E012] nothing computes plugin_v2"),
                               HasSubstr("reference refuses (real-time): may allocate memory or wait in a call")));
  const auto engine = withPlugin("Unknown", {});
  EXPECT_FALSE(engine->isRealTime());
  const std::vector<HostTensor> x = {HostTensor({1}, {7})};
  Result y;
  EXPECT_THAT(
      errorOf([&] { bind(*engine, x, {y.values.data()}); }),
      HasSubstr("step 'plugin_v20' (plugin_v2) runs by reference, which may allocate memory or wait in a call"));
}

TEST(BoundCallMisuse, OutputsWhoseSizeDataDecideAreRefused) {
  plugin::registerBuiltinPlugins();
  PlanMaker make("places");
  const plan::Register n = make.number(3);
  make.output("places", testing::addPlaces(make, make.input("x", {n}), n).places);
  const auto engine = loadMade(make, {}, device::cpu());
  const std::vector<HostTensor> x = {HostTensor({3}, {1, 0, 2})};
  Result y;
  EXPECT_THAT(errorOf([&] { bind(*engine, x, {y.values.data()}); }), HasSubstr("may allocate memory or wait"));
}

TEST(BoundCallMisuse, DevicesWithStreamsAreRefused) {
  PlanMaker make("small");
  const int32_t x = make.input("x", make.dims({1}));
  make.output("y", make.activation("relu", x));
  const auto engine = loadMade(make, {}, testing::deferredDevice());
  const std::vector<HostTensor> given = {HostTensor({1}, {7})};
  Result y;
  EXPECT_THAT(errorOf([&] { bind(*engine, given, {y.values.data()}); }), HasSubstr("it runs on a GPU"));
}

}  // namespace
}  // namespace torchtrt::engine
