// Engines on a device with streams: what belongs to one stream, and what outlives a call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <thread>

#include "engine/load.h"
#include "support/counted_plan.h"
#include "support/deferred_backend.h"
#include "support/run_together.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {
namespace {

using testing::DeferredDevice;
using ::testing::ElementsAre;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::PlanMaker;

constexpr size_t kStreams = 4;
std::array<char, kStreams> names;

device::Stream streamOf(size_t index) {
  return {&names.at(index)};
}

// relu(x) * w for a batch of 1 to 64 rows, through a view that keeps the steps apart: a workspace, and a weight.
std::shared_ptr<const LoadedEngine> productOn(const device::Device& device, const LoadOptions& options = {}) {
  testing::deferredDevice();  // makes the backend's name known
  PlanMaker make("product");
  const plan::Register n = make.symbol("n", 1, 4, 64);
  const int32_t x = make.input("x", {n, make.number(2)});
  const int32_t relu = make.view("same", make.activation("relu", x), {n, make.number(2)});
  make.output("y", make.elementwise("prod", relu, make.floats("w", {2}, {10, 100})));
  return loadMade(make, options, device);
}

// A call whose outputs wait to be read.
class Call {
 public:
  Call(const LoadedEngine& engine, const device::Device& device, const HostTensor& x, device::Stream stream)
      : outputs_(device, stream) {
    const testing::InputsOnDevice given(device, std::vector{x.view()}, stream);
    engine.enqueue(given.views(), outputs_, CallOptions{1, stream.handle});
  }
  std::vector<float> values() const {
    return outputs_.outputs[0].values();
  }

 private:
  testing::KeptOutputs outputs_;
};

HostTensor rowsOf(int64_t count) {
  return HostTensor::counting({count, 2});
}

std::vector<float> expectedOf(int64_t count) {
  std::vector<float> values = rowsOf(count).values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] *= i % 2 == 0 ? 10 : 100;
  }
  return values;
}

// All are given before the first is waited for.
TEST(Streams, CallsInFlightInAllOfThem) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const DeferredDevice device(seed);
    const auto engine = productOn(device);
    std::vector<Call> calls;
    for (int64_t i = 0; i < 12; ++i) {
      calls.emplace_back(*engine, device, rowsOf(1 + i % 5), streamOf(static_cast<size_t>(i) % kStreams));
    }
    for (int64_t i = 11; i >= 0; --i) {
      EXPECT_EQ(calls[static_cast<size_t>(i)].values(), expectedOf(1 + i % 5)) << "seed " << seed << ", call " << i;
    }
  }
}

TEST(Streams, AnEngineMayGoBeforeItsWorkHasEnded) {
  const DeferredDevice device;
  auto engine = productOn(device);
  const Call call(*engine, device, rowsOf(3), streamOf(1));
  engine.reset();
  EXPECT_EQ(call.values(), expectedOf(3));
}

// Nobody may wait then: the weights stay until the next engine of another stream goes.
TEST(Streams, AnEngineMayGoWhileAStreamIsRecorded) {
  const DeferredDevice device;
  auto engine = productOn(device);
  std::optional<Call> call;
  call.emplace(*engine, device, rowsOf(3), streamOf(1));
  device.beginCapture(streamOf(2));
  engine.reset();
  (void)device.endCapture(streamOf(2));
  EXPECT_EQ(call->values(), expectedOf(3));
  call.reset();
  EXPECT_EQ(device.liveBytes(), 2 * sizeof(float));
  auto next = productOn(device);
  { const Call other(*next, device, rowsOf(3), streamOf(1)); }
  next.reset();
  EXPECT_EQ(device.liveBytes(), 0U);
}

TEST(Streams, ASetOfShapesMayGoBeforeItsWorkHasEnded) {
  const DeferredDevice device;
  const auto engine = productOn(device, {.shape_cache_bytes = 1});
  std::vector<Call> calls;
  for (int64_t count = 1; count <= 10; ++count) {
    calls.emplace_back(*engine, device, rowsOf(count), streamOf(0));
  }
  EXPECT_EQ(engine->cache().size(), 1U);
  for (int64_t count = 1; count <= 10; ++count) {
    EXPECT_EQ(calls[static_cast<size_t>(count - 1)].values(), expectedOf(count));
  }
}

TEST(Streams, AnEngineAtRestHoldsItsWeightsAlone) {
  const DeferredDevice device;
  const auto engine = productOn(device);
  { const Call call(*engine, device, rowsOf(64), streamOf(2)); }
  EXPECT_EQ(device.liveBytes(), 2 * sizeof(float));
  device.wait(streamOf(2));
}

TEST(Streams, AFailedCallGivesItsMemoryBack) {
  const DeferredDevice device;
  const auto engine = productOn(device);
  EXPECT_THAT(errorOf([&] { Call(*engine, device, rowsOf(65), streamOf(0)); }), HasSubstr("[E005]"));
  EXPECT_EQ(device.liveBytes(), 2 * sizeof(float));
  EXPECT_EQ(Call(*engine, device, rowsOf(2), streamOf(0)).values(), expectedOf(2));
}

// Memory that the caller lends, as PyTorch's allocator does.
class Lender final : public device::MemorySource {
 public:
  explicit Lender(const device::Device& device) : device_(device) {}
  void* allocate(size_t bytes, device::Stream stream) override {
    ++taken_;
    return lent_.emplace_back(device_.allocate(bytes, "a loan", stream)).data();
  }
  void free(void* data, size_t, device::Stream stream) override {
    EXPECT_EQ(stream.handle, streamOf(3).handle);
    std::erase_if(lent_, [data](const device::Memory& memory) { return memory.data() == data; });
  }
  int taken() const {
    return taken_;
  }
  size_t outstanding() const {
    return lent_.size();
  }

 private:
  const device::Device& device_;
  std::vector<device::Memory> lent_;
  int taken_ = 0;
};

TEST(Streams, WorkspacesComeFromTheCallersMemory) {
  const DeferredDevice device;
  const auto lender = std::make_shared<Lender>(device);
  const auto engine = productOn(device, {.prepare = false, .memory = lender});
  const Call first(*engine, device, rowsOf(3), streamOf(3));
  const Call second(*engine, device, rowsOf(5), streamOf(3));
  EXPECT_EQ(lender->taken(), 2);
  EXPECT_EQ(lender->outstanding(), 0U) << "given back in the stream's order, before the work has run";
  EXPECT_EQ(first.values(), expectedOf(3));
  EXPECT_EQ(second.values(), expectedOf(5));
}

TEST(Streams, ThreadsHaveTheirOwn) {
  const DeferredDevice device;
  const auto engine = productOn(device);
  std::atomic<int> wrong = 0;
  std::vector<std::function<void()>> bodies;
  for (size_t thread = 0; thread < kStreams; ++thread) {
    bodies.emplace_back([&, thread] {
      std::vector<Call> calls;
      for (int64_t i = 0; i < 60; ++i) {
        calls.emplace_back(*engine, device, rowsOf(1 + i % 7), streamOf(thread));
        if (i % 3 == 2) {
          wrong += calls[static_cast<size_t>(i - 1)].values() != expectedOf(1 + (i - 1) % 7) ? 1 : 0;
        }
      }
      for (int64_t i = 0; i < 60; ++i) {
        wrong += calls[static_cast<size_t>(i)].values() != expectedOf(1 + i % 7) ? 1 : 0;
      }
    });
  }
  testing::runTogether(bodies);
  EXPECT_EQ(wrong, 0);
}

// x + state, where the state may come empty.
TEST(Streams, ZerosOfEmptyInputsAreMadeInTheCallsOrder) {
  const DeferredDevice device;
  testing::deferredDevice();
  PlanMaker make("state");
  const int32_t x = make.input("x", make.dims({2}));
  const int32_t state = make.input("state", make.dims({2}));
  make.plan().inputs[1].empty_dims = {0};
  make.output("y", make.elementwise("sum", x, state));
  const auto engine = loadMade(make, {.prepare = false}, device);
  const HostTensor values({2}, {5, 6});
  const HostTensor nothing({0}, {});
  for (size_t stream = 0; stream < kStreams; ++stream) {
    const testing::InputsOnDevice given(device, std::vector{values.view(), nothing.view()}, streamOf(stream));
    testing::KeptOutputs outputs(device, streamOf(stream));
    engine->enqueue(given.views(), outputs, CallOptions{1, streamOf(stream).handle});
    EXPECT_THAT(outputs.outputs[0].values(), ElementsAre(5, 6));
  }
}

// A table of two rows, and indices into it.
TEST(Streams, AFaultInTheDataShowsAtALaterCallOfItsStream) {
  const DeferredDevice device;
  testing::deferredDevice();
  PlanMaker make("table");
  const int32_t table = make.floats("table", {2}, {10, 20});
  const int32_t indices =
      make.step("cast", {make.input("i", make.dims({2}))}, make.dims({2}), {{"to", DType::kInt64}}, DType::kInt64);
  make.output("y", make.step("gather", {table, indices}, make.dims({2}),
                             {{"mode", std::string("default")}, {"axis", int64_t{0}}}));
  const auto engine = loadMade(make, {}, device);
  const HostTensor good({2}, {1, 0});
  const HostTensor bad({2}, {0, 5});
  const auto error = [&](const HostTensor& values, size_t stream) {
    return errorOf([&] { Call(*engine, device, values, streamOf(stream)); });
  };
  EXPECT_EQ(error(bad, 0), "");
  EXPECT_EQ(error(good, 0), "") << "nobody has waited, so that the work has not run";
  device.wait(streamOf(0));
  EXPECT_EQ(error(good, 1), "") << "it is no fault of this stream";
  EXPECT_THAT(error(good, 0), HasSubstr("[E008] step '"));
  EXPECT_THAT(Call(*engine, device, good, streamOf(0)).values(), ElementsAre(20, 10));
  EXPECT_EQ(error(bad, 0), "");
  EXPECT_EQ(error(bad, 1), "");
  engine->discardFaults(streamOf(0).handle);
  EXPECT_EQ(error(good, 0), "") << "it was discarded";
  device.wait(streamOf(1));
  EXPECT_THAT(error(good, 1), HasSubstr("[E008] step '")) << "those of other streams stay";
}

TEST(Streams, AFaultMayComeWhenItsEngineIsGone) {
  const DeferredDevice device;
  testing::deferredDevice();
  PlanMaker make("table");
  const int32_t table = make.floats("table", {2}, {10, 20});
  const int32_t indices = make.input("i", make.dims({2}), DType::kInt64);
  make.output("y", make.step("gather", {table, indices}, make.dims({2}),
                             {{"mode", std::string("default")}, {"axis", int64_t{0}}}));
  auto engine = loadMade(make, {}, device);
  const std::array<int64_t, 2> values = {0, 5};
  const std::array<int64_t, 1> dims = {2}, strides = {1};
  const std::vector<TensorView> views = {{DType::kInt64, 1, dims.data(), strides.data(), values.data()}};
  const testing::InputsOnDevice given(device, views);
  testing::KeptOutputs outputs(device);
  engine->enqueue(given.views(), outputs, 1);
  engine.reset();
  EXPECT_EQ(errorOf([&] { device.wait({}); }), "");
}

// A user records a stream: plain work, nothing waits.
TEST(Streams, ACallMayBeCaptured) {
  const DeferredDevice device;
  const HostTensor x = rowsOf(2);
  const testing::InputsOnDevice given(device, std::vector{x.view()}, streamOf(0));
  const device::Memory lent = device.allocate(16, "an output", streamOf(0));
  device.wait(streamOf(0));
  class Fixed final : public OutputAllocator {
   public:
    explicit Fixed(void* memory) : memory_(memory) {}
    void* allocate(int, DType, std::span<const int64_t>) override {
      return memory_;
    }

   private:
    void* memory_;
  } outputs(lent.data());
  // Workspaces of a captured call are part of the capture on a GPU; here the caller brings them.
  class Kept final : public device::MemorySource {
   public:
    explicit Kept(const device::Device& device) : memory_(device.allocate(4096, "a workspace")) {
      device.wait({});
    }
    void* allocate(size_t, device::Stream) override {
      return memory_.data();
    }
    void free(void*, size_t, device::Stream) override {}

   private:
    device::Memory memory_;
  };
  const auto lending = productOn(device, {.memory = std::make_shared<Kept>(device)});
  device.beginCapture(streamOf(0));
  lending->enqueue(given.views(), outputs, CallOptions{1, streamOf(0).handle});
  const auto recording = device.endCapture(streamOf(0));
  std::vector<float> values(4, -1);
  recording->replay(streamOf(0));
  device.copyOut(values.data(), lent.data(), 16, streamOf(0));
  EXPECT_EQ(values, expectedOf(2));
}

TEST(Streams, AnEngineThatCountsRefusesToBeCaptured) {
  const DeferredDevice device;
  testing::deferredDevice();
  plugin::registerBuiltinPlugins();
  PlanMaker make("places");
  const int32_t x = make.input("x", make.dims({4}));
  make.output("places", testing::addPlaces(make, make.activation("relu", x), make.number(4)).places);
  const auto engine = loadMade(make, {}, device);
  const HostTensor values({4}, {1, -1, 2, -2});
  const testing::InputsOnDevice given(device, std::vector{values.view()}, streamOf(0));
  testing::KeptOutputs outputs(device, streamOf(0));
  device.beginCapture(streamOf(0));
  EXPECT_THAT(errorOf([&] {
                engine->enqueue(given.views(), outputs, CallOptions{1, streamOf(0).handle});
              }),
              HasSubstr("cannot be captured in a CUDA graph: how large output 'places' is depends on data"));
  (void)device.endCapture(streamOf(0));
}

TEST(Streams, AProfileMeasuresWorkAndNotItsStart) {
  const DeferredDevice device;
  const auto engine = productOn(device);
  const HostTensor x = rowsOf(64);
  const testing::InputsOnDevice given(device, std::vector{x.view()});
  const auto profile = engine->profile(given.views(), 3, 1);
  ASSERT_EQ(profile.size(), 2U);
  EXPECT_GT(profile[0].microseconds, 0);
  EXPECT_EQ(device.pendingWork(), 2U) << "its workspace and its output are given back; all else has ended";
}

}  // namespace
}  // namespace torchtrt::engine
