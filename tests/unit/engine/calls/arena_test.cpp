#include "engine/calls/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>

#include "base/align.h"
#include "engine/load.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::PlanMaker;

// The CPU, with a count of what it lent: these engines have no weights, so all that it lends is workspace.
class CountingDevice : public device::Device {
 public:
  const device::Properties& properties() const override {
    return device::cpu().properties();
  }
  size_t bytes() const {
    return bytes_;
  }
  int allocations() const {
    return allocations_;
  }
  void refuse(bool refuses) {
    refuses_ = refuses;
  }

 protected:
  void* allocateBytes(size_t bytes, device::Stream) const override {
    if (refuses_) {
      return nullptr;
    }
    bytes_ += bytes;
    ++allocations_;
    return std::aligned_alloc(kAlignment, alignUp(bytes));
  }
  void freeBytes(void* data, size_t bytes, device::Stream) const override {
    bytes_ -= bytes;
    std::free(data);
  }

 private:
  mutable std::atomic<size_t> bytes_ = 0;
  mutable std::atomic<int> allocations_ = 0;
  bool refuses_ = false;
};

// Threads that start here have no arena yet.
template <typename Body>
void inThread(const Body& body) {
  std::thread(body).join();
}

// A test's own thread keeps no memory of a device that dies with the test.
const LoadOptions kUnprepared = {.prepare = false};

// y = relu(x) + x of 1 to `most` elements, whose workspace is relu(x).
std::shared_ptr<const LoadedEngine> doubling(int64_t most, const device::Device& device,
                                             const LoadOptions& options = kUnprepared) {
  PlanMaker make("doubling");
  const plan::Register n = make.symbol("n", 1, 1, most);
  const int32_t x = make.input("x", {n});
  const int32_t relu = make.view("rectified", make.activation("relu", x), {n});  // read so, it is stored
  make.output("y", make.elementwise("sum", relu, x));
  return loadMade(make, options, device);
}

// The last element of the engine's answer to 2, 2, ...
float callDoubling(const LoadedEngine& engine, int64_t count) {
  const HostTensor x({count}, std::vector<float>(static_cast<size_t>(count), 2));
  return callEngine(engine, {x})[0].values().back();
}

TEST(Arena, GrowsToTheLargestNeedAndKeepsIt) {
  CountingDevice device;
  inThread([&] {
    const auto reserve = [&](size_t bytes) { return WorkspaceLease(device).reserve(bytes); };
    void* const first = reserve(1000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
    EXPECT_EQ(WorkspaceLease(device).data(), first);
    EXPECT_EQ(reserve(10), first);
    EXPECT_EQ(device.bytes(), 1000U);
    reserve(5000);
    EXPECT_EQ(device.bytes(), 5000U) << "the smaller one is given back";
    reserve(1000);
    EXPECT_EQ(device.allocations(), 2);
  });
  EXPECT_EQ(device.bytes(), 0U) << "the thread took it with it";
}

TEST(Arena, IsSharedByAllEnginesOfAThread) {
  CountingDevice device;
  const auto small = doubling(1000, device);
  const auto large = doubling(9008, device);
  inThread([&] {
    for (const int64_t count : {1000, 300, 1000}) {
      EXPECT_EQ(callDoubling(*small, count), 4);
      EXPECT_EQ(callDoubling(*large, count + 8008), 4);
    }
    EXPECT_EQ(device.bytes(), 9008 * sizeof(float));
  });
}

TEST(Arena, IsFlatOverManyShapes) {
  CountingDevice device;
  const auto engine = doubling(4000, device);
  inThread([&] {
    callDoubling(*engine, 4000);
    const int before = device.allocations();
    for (int64_t call = 0; call < 500; ++call) {
      ASSERT_EQ(callDoubling(*engine, 1 + call * 7919 % 4000), 4);
    }
    EXPECT_EQ(device.allocations(), before);
  });
}

TEST(Arena, EveryThreadHasItsOwn) {
  CountingDevice device;
  const auto engine = doubling(5000, device);
  std::barrier together(2);
  std::atomic<int> wrong = 0;
  const auto work = [&](int64_t count) {
    for (int call = 0; call < 500; ++call) {
      wrong += callDoubling(*engine, count) != 4 ? 1 : 0;
    }
    together.arrive_and_wait();
    EXPECT_EQ(device.bytes(), 6000 * sizeof(float)) << "4992 and 1008";
    together.arrive_and_wait();
  };
  std::thread other([&] { work(1008); });
  inThread([&] { work(4992); });
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device.bytes(), 0U);
}

// A plugin that runs an engine, or itself, in the midst of a call.
class Inside final : public plugin::Plugin {
 public:
  static inline const LoadedEngine* engine = nullptr;

  bool supports(std::span<const DType>) const override {
    return true;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  void enqueue(std::span<const plugin::InputView> inputs, std::span<const plugin::OutputView> outputs, void*,
               int) const override {
    const auto count = inputs[0].dims[0];
    const auto* data = static_cast<const float*>(inputs[0].data);
    const auto result = callEngine(*engine, {HostTensor({count}, {data, data + count})})[0].values();
    std::copy(result.begin(), result.end(), static_cast<float*>(outputs[0].data));
  }
};

class InsideCreator final : public plugin::PluginCreator {
 public:
  std::string type() const override {
    return "Inside";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes&) const override {
    return std::make_unique<Inside>();
  }
};

TEST(Arena, ACallInsideOfAnotherLeavesItsWorkspaceAlone) {
  plugin::PluginRegistry::global().add(std::make_shared<InsideCreator>());
  CountingDevice device;
  const auto inner = doubling(5000, device);
  PlanMaker make("outer");
  const auto dims = make.dims({1000});
  const int32_t relu = make.activation("relu", make.input("x", dims));
  const int32_t inside =
      make.step("plugin_v2", {relu}, dims,
                {{"namespace", std::string()}, {"type", std::string("Inside")}, {"version", std::string("1")}});
  make.output("y", make.elementwise("sum", relu, inside));
  const auto outer = loadMade(make, kUnprepared, device);
  Inside::engine = inner.get();
  inThread([&] {
    const HostTensor x({1000}, std::vector<float>(1000, 20));
    for (int call = 0; call < 3; ++call) {
      EXPECT_EQ(callEngine(*outer, {x})[0].values(), std::vector<float>(1000, 20 + 40));
      EXPECT_EQ(callDoubling(*inner, 5000), 4) << "between: the outer block grows, the inner one stays";
    }
    const size_t before = device.bytes();
    callEngine(*outer, {x});
    EXPECT_EQ(device.bytes(), before);
  });
  plugin::PluginRegistry::global().remove("", "Inside", "1");
}

TEST(Arena, OutlivesFailures) {
  CountingDevice device;
  const auto engine = doubling(2000, device);
  inThread([&] {
    callDoubling(*engine, 10);
    const void* const before = WorkspaceLease(device::cpu()).data();
    EXPECT_NE(before, nullptr);
    EXPECT_NE(errorOf([&] { callDoubling(*engine, 2001); }), "");
    EXPECT_EQ(WorkspaceLease(device::cpu()).data(), before) << "the failed call's lease has ended";
    device.refuse(true);
    EXPECT_THAT(errorOf([&] { callDoubling(*engine, 2000); }), HasSubstr("the engine's workspace: wanted 8000 bytes"));
    device.refuse(false);
    EXPECT_EQ(callDoubling(*engine, 2000), 4);
    EXPECT_EQ(callDoubling(*engine, 10), 4);
  });
}

TEST(Arena, ADyingThreadMayStillCall) {
  CountingDevice device;
  const auto engine = doubling(100, device);
  static const LoadedEngine* called = nullptr;
  static float result = 0;
  called = engine.get();
  struct Last {
    int used = 0;
    ~Last() {
      result = callDoubling(*called, 100);
    }
  };
  inThread([&] {
    thread_local Last last;  // made before the arena, so it dies behind it
    ++last.used;
    callDoubling(*engine, 50);
  });
  EXPECT_EQ(result, 4);
  EXPECT_EQ(device.bytes(), 0U);
}

TEST(Arena, AForkedChildMayCall) {
  const auto engine = doubling(1000, device::cpu());
  callDoubling(*engine, 100);
  const pid_t child = fork();
  if (child == 0) {
    _exit(callDoubling(*engine, 100) == 4 && callDoubling(*engine, 1000) == 4 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(callDoubling(*engine, 100), 4);
}

TEST(Arena, LoadingAnEnginePreparesItsThreads) {
  CountingDevice device;
  inThread([&] {
    const auto engine = doubling(1, device, {});
    const int before = device.allocations();
    EXPECT_EQ(before, 1);
    callDoubling(*engine, 1);
    EXPECT_EQ(device.allocations(), before);
  });
}

TEST(Arena, TheLastEngineTakesItsThreadsWorkspaceWithIt) {
  CountingDevice device;
  inThread([&] {
    auto one = doubling(1008, device);
    auto other = doubling(10, device);
    callDoubling(*one, 1008);
    one.reset();
    EXPECT_EQ(device.bytes(), 1008 * sizeof(float));
    other.reset();
    EXPECT_EQ(device.bytes(), 0U);
  });
}

size_t residentPages(const void* memory, size_t bytes) {
  std::vector<unsigned char> pages(bytes / static_cast<size_t>(sysconf(_SC_PAGE_SIZE)));
  EXPECT_EQ(mincore(const_cast<void*>(memory), bytes, pages.data()), 0);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST(Arena, GetsItsFirstPagesOnRequest) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the workspace is not mapped but from malloc, which may have touched it";
#endif
  inThread([] {
    constexpr size_t kBytes = size_t{16} << 20;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
    WorkspaceLease lease(device::cpu());
    const void* const memory = lease.reserve(kBytes);
    EXPECT_EQ(residentPages(memory, kBytes), 0U);
    lease.touch(page);
    EXPECT_GE(residentPages(memory, kBytes), 1U);
    lease.touch(kBytes);
    EXPECT_EQ(residentPages(memory, kBytes), (size_t{4} << 20) / page);
  });
}

}  // namespace
}  // namespace torchtrt::engine
