// Calls that an engine records and replays as a whole, on a device with streams: the answers are those of calls that
// run action by action.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "engine/load.h"
#include "support/counted_plan.h"
#include "support/deferred_backend.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {
namespace {

using testing::DeferredDevice;
using testing::HostTensor;
using testing::PlanMaker;

std::array<char, 3> names;

device::Stream streamOf(size_t index) {
  return {&names.at(index)};
}

constexpr int kSums = 6;

// x + 1 + 10 + 100..., for a batch of 1 to 8 rows. Views keep the sums apart.
std::shared_ptr<const LoadedEngine> sumsOn(const device::Device& device, const LoadOptions& options = {}) {
  testing::deferredDevice();  // makes the backend's name known
  PlanMaker make("sums");
  const plan::Register n = make.symbol("n", 1, 4, 8);
  int32_t sum = make.input("x", {n, make.number(2)});
  float summand = 1;
  for (int i = 0; i < kSums; ++i) {
    const std::string number = std::to_string(i);
    sum = make.elementwise("sum", sum, make.floats("w" + number, {2}, {summand, summand}));
    summand *= 10;
    if (i + 1 < kSums) {
      sum = make.view("same" + number, sum, {n, make.number(2)});
    }
  }
  make.output("y", sum);
  return loadMade(make, options, device);
}

HostTensor rowsOf(int64_t count) {
  return HostTensor::counting({count, 2});
}

std::vector<float> expectedOf(int64_t count) {
  std::vector<float> values = rowsOf(count).values;
  for (float& value : values) {
    value += 111111;
  }
  return values;
}

// A call that has its own input and output as long as this lives.
class Call {
 public:
  Call(const LoadedEngine& engine, const device::Device& device, int64_t rows, device::Stream stream)
      : rows_(rows), x_(rowsOf(rows)), given_(device, std::vector{x_.view()}, stream), outputs_(device, stream) {
    engine.enqueue(given_.views(), outputs_, CallOptions{1, stream.handle});
  }
  void expectRight() const {
    EXPECT_EQ(outputs_.outputs[0].values(), expectedOf(rows_));
  }

 private:
  int64_t rows_;
  HostTensor x_;
  testing::InputsOnDevice given_;
  testing::KeptOutputs outputs_;
};

TEST(RecordedCalls, OtherPointersRenewThem) {
  size_t renewals = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const DeferredDevice device(seed);
    const auto engine = sumsOn(device, {.prepare = false});
    std::vector<std::unique_ptr<Call>> calls;
    for (int i = 0; i < 12; ++i) {
      calls.push_back(std::make_unique<Call>(*engine, device, 3, streamOf(0)));
    }
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      (*call)->expectRight();
    }
    renewals += device.renewals();
    EXPECT_LE(device.replays(), 10U) << "the first two calls run as they are";
  }
  EXPECT_GT(renewals, 100U);
}

TEST(RecordedCalls, StreamsAndShapesHaveTheirOwn) {
  size_t replays = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const DeferredDevice device(seed);
    const auto engine = sumsOn(device);
    std::vector<std::unique_ptr<Call>> calls;
    for (size_t i = 0; i < 60; ++i) {
      calls.push_back(
          std::make_unique<Call>(*engine, device, 1 + static_cast<int64_t>(i % 4), streamOf((i / 4) % names.size())));
      if (i % 7 == 0) {
        calls[i / 2]->expectRight();
      }
    }
    for (const auto& call : calls) {
      call->expectRight();
    }
    replays += device.replays();
  }
  EXPECT_GT(replays, 300U);
}

TEST(RecordedCalls, MoreShapesThanContexts) {
  const DeferredDevice device;
  const auto engine = sumsOn(device, {.shape_cache_bytes = 1});
  for (int round = 0; round < 5; ++round) {
    for (int64_t rows = 1; rows <= 8; ++rows) {
      for (size_t stream = 0; stream < names.size(); ++stream) {
        Call(*engine, device, rows, streamOf(stream)).expectRight();
      }
    }
  }
  EXPECT_EQ(engine->contexts().idle(), 16U);
}

TEST(RecordedCalls, AnEngineMayGoBeforeTheyHaveRun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const DeferredDevice device(seed);
    auto engine = sumsOn(device);
    std::vector<std::unique_ptr<Call>> calls;
    for (int i = 0; i < 5; ++i) {
      calls.push_back(std::make_unique<Call>(*engine, device, 2, streamOf(1)));
    }
    engine.reset();
    for (const auto& call : calls) {
      call->expectRight();
    }
  }
}

TEST(RecordedCalls, TheFirstCallAfterLoadingIsAReplay) {
  const DeferredDevice device;
  const auto engine = sumsOn(device, {.threads = 1});  // as many as the call has
  EXPECT_EQ(device.recordings(), 1U);
  EXPECT_EQ(device.replays(), 1U);
  Call(*engine, device, 4, {}).expectRight();
  EXPECT_EQ(device.recordings(), 1U);
  EXPECT_EQ(device.replays(), 2U);
}

// A step's time is what it adds to a recording of those in front of it. Engines do not take these for their calls'.
TEST(RecordedCalls, AProfileTimesRecordingsOfItsOwn) {
  const DeferredDevice device;
  const auto engine = sumsOn(device, {.prepare = false});
  const HostTensor x = rowsOf(4);
  const testing::InputsOnDevice given(device, std::vector{x.view()});
  const auto profile = engine->profile(given.views(), 5, 1);
  EXPECT_EQ(device.recordings(), profile.size() + 1);     // of the first step twice, too
  EXPECT_EQ(device.replays(), 6 * (profile.size() + 1));  // the first of each counts for nothing
  for (const StepProfile& step : profile) {
    EXPECT_GE(step.microseconds, 0) << step.name;
  }
  for (int i = 0; i < 4; ++i) {  // more than the calls that run as they are
    engine->profile(given.views(), 5, 1);
  }
  const size_t replays = device.replays();
  Call(*engine, device, 4, {}).expectRight();
  EXPECT_EQ(device.replays(), replays);
}

// A step that waits for its stream is not recorded, and the outputs are right all the same.
TEST(RecordedCalls, ACountedOutputIsNeverRecorded) {
  const DeferredDevice device;
  testing::deferredDevice();
  plugin::registerBuiltinPlugins();
  PlanMaker make("places");
  int32_t relu = make.input("x", make.dims({4}));
  for (int i = 0; i < kSums; ++i) {
    relu = make.view("same" + std::to_string(i), make.activation("relu", relu), make.dims({4}));
  }
  make.output("places", testing::addPlaces(make, relu, make.number(4)).places);
  const auto engine = loadMade(make, {}, device);
  const HostTensor x({4}, {1, -1, 2, -2});
  for (int call = 0; call < 5; ++call) {
    const testing::InputsOnDevice given(device, std::vector{x.view()}, streamOf(0));
    testing::KeptOutputs outputs(device, streamOf(0));
    engine->enqueue(given.views(), outputs, CallOptions{1, streamOf(0).handle});
    EXPECT_EQ(outputs.outputs[0].values<int64_t>(), (std::vector<int64_t>{0, 2}));
  }
  EXPECT_EQ(device.recordings(), 0U);
}

}  // namespace
}  // namespace torchtrt::engine
