// Calls of engines as CUDA graphs: recorded at the third call, renewed where pointers change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cuda/counted_driver.h"
#include "cuda/device_call.h"
#include "cuda/emulation.h"
#include "cuda/host_plugin.h"
#include "cuda/small_network.h"

namespace torchtrt::cuda {
namespace {

using testing::callOnDevice;
using testing::CountedDriver;
using testing::DeviceInputs;
using testing::DeviceOutputs;
using testing::expectEqual;
using testing::GivenOutputs;
using testing::gpu;
using testing::load;
using testing::network;
using testing::tensorOf;
using torchtrt::testing::HostTensor;
using torchtrt::testing::PlanMaker;

// Calls with the same memory, and with values that a seed names.
class SameMemory {
 public:
  explicit SameMemory(int64_t rows, device::Stream stream = {})
      : rows_(rows), stream_(stream), inputs_({tensorOf(rows, 0)}, stream), outputs_(2, stream) {}
  void fill(unsigned seed) {
    inputs_.fill({tensorOf(rows_, seed)});
  }
  void enqueue(const engine::Engine& engine) {
    engine.enqueue(inputs_.views(), outputs_, engine::CallOptions{1, stream_.handle});
  }
  void check(unsigned seed) const {
    expectEqual(outputs_.values(), tensorOf(rows_, seed));
  }
  void call(const engine::Engine& engine) {
    fill(++seed_);
    enqueue(engine);
    check(seed_);
  }

 private:
  int64_t rows_;
  device::Stream stream_;
  unsigned seed_ = 0;
  DeviceInputs inputs_;
  GivenOutputs outputs_;
};

class Replay : public ::testing::Test {
 protected:
  CountedDriver driver_;
  const CountedDriver::Counts& counts_ = CountedDriver::counts();
  CountedDriver::Fails& fails_ = CountedDriver::fails();
};

TEST_F(Replay, TheThirdCallIsRecordedAndLaterOnesAreOneLaunch) {
  engine::LoadOptions options;
  options.memory = std::make_shared<testing::SameBlock>();
  const auto engine = load(gpu(), options);
  SameMemory memory(5);
  memory.call(*engine);
  const int launches = counts_.launches;  // beside those of libraries
  EXPECT_GE(launches, 5);
  for (int call = 2; call <= 6; ++call) {
    memory.call(*engine);
    EXPECT_EQ(counts_.launches, launches * std::min(call, 3)) << "call " << call << "; recording launches once";
    EXPECT_EQ(counts_.graphs, std::max(call - 2, 0)) << "call " << call;
  }
  EXPECT_EQ(counts_.instantiated, 1);
  EXPECT_EQ(counts_.set, 0) << "the workspace lies where it lay, too";
}

TEST_F(Replay, OtherPointersRenewTheStepsThatReadOrWriteThere) {
  const auto engine = load(gpu());
  std::vector<std::unique_ptr<DeviceInputs>> kept;  // so that no memory comes twice
  std::vector<std::unique_ptr<DeviceOutputs>> results;
  std::vector<HostTensor> tensors;
  for (unsigned call = 0; call < 8; ++call) {
    tensors.push_back(tensorOf(7, call));
    kept.push_back(std::make_unique<DeviceInputs>(std::vector{tensors.back()}));
    results.push_back(std::make_unique<DeviceOutputs>());
    engine->enqueue(kept.back()->views(), *results.back(), engine::CallOptions{});
  }
  for (size_t call = 0; call < tensors.size(); ++call) {
    expectEqual(results[call]->values(), tensors[call]);  // nobody wrote into another call's memory
  }
  EXPECT_EQ(counts_.instantiated, 1);
  EXPECT_EQ(counts_.graphs, 6);
  EXPECT_GE(counts_.set, 5 * 4) << "x is read twice, z written and read, y written";
}

TEST_F(Replay, ShapesInTurnHaveRecordingsOfTheirOwn) {
  const auto engine = load(gpu());
  SameMemory small(2);
  SameMemory large(64);
  for (int call = 0; call < 5; ++call) {
    small.call(*engine);
    large.call(*engine);
  }
  EXPECT_EQ(counts_.instantiated, 2);
  EXPECT_EQ(counts_.graphs, 6);
}

TEST_F(Replay, ShapesThatComeOnceAreNotRecordedAndTheNumberOfGraphsIsBounded) {
  const size_t before = testing::livingGraphs();
  const auto engine = load(gpu());
  for (int64_t rows = 1; rows <= 40; ++rows) {
    const HostTensor tensor = tensorOf(rows, static_cast<unsigned>(rows));
    expectEqual(callOnDevice(*engine, {tensor}), tensor);
  }
  EXPECT_EQ(counts_.instantiated, 0);
  for (int64_t rows = 1; rows <= 40; ++rows) {
    for (int call = 0; call < 4; ++call) {
      const HostTensor tensor = tensorOf(rows, static_cast<unsigned>(call));
      expectEqual(callOnDevice(*engine, {tensor}), tensor);
    }
  }
  EXPECT_EQ(counts_.instantiated, 40);
  EXPECT_LE(testing::livingGraphs() - before, 2U * 16U) << "a graph and its executable for each context that waits";
}

TEST_F(Replay, GraphsGoWithTheirEngine) {
  const size_t before = testing::livingGraphs();
  {
    const auto engine = load(gpu());
    SameMemory memory(3);
    for (int call = 0; call < 4; ++call) {
      memory.call(*engine);
    }
    EXPECT_EQ(counts_.instantiated, 1);
  }
  EXPECT_EQ(testing::livingGraphs(), before);
}

TEST_F(Replay, ThreadsAndStreamsHaveGraphsOfTheirOwn) {
  const auto engine = load(gpu());
  const auto use = [&](unsigned thread) {
    const testing::OwnStream own;
    for (unsigned call = 0; call < 40; ++call) {
      const device::Stream stream{call % 3 == 0 ? nullptr : own.handle()};
      const HostTensor tensor = tensorOf(1 + (call + thread) % 2, call * 7 + thread);
      expectEqual(callOnDevice(*engine, {tensor}, stream), tensor);
    }
    gpu().wait(own.stream());
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back(use, thread);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(counts_.graphs, 0);
}

TEST_F(Replay, ACallersCaptureGetsLaunches) {
  engine::LoadOptions options;
  options.memory = std::make_shared<testing::SameBlock>();  // a graph's memory has to stay
  const auto engine = load(gpu(), options);
  const testing::OwnStream own;
  StreamHandle const handle = own.handle();
  SameMemory memory(4, {handle});
  for (int call = 0; call < 4; ++call) {  // so that a recording of torchtrt is there
    memory.call(*engine);
  }
  const int graphs = counts_.graphs;
  const testing::InContextOfGpu context;
  ASSERT_EQ(driver().beginCapture(handle, kCaptureRelaxed), kSuccess);
  memory.enqueue(*engine);
  GraphHandle graph = nullptr;
  ASSERT_EQ(driver().endCapture(handle, &graph), kSuccess);
  EXPECT_EQ(counts_.graphs, graphs) << "no graph is launched into a graph";
  GraphExecHandle exec = nullptr;
  ASSERT_EQ(driver().instantiate(&exec, graph, 0), kSuccess);
  for (unsigned seed = 60; seed < 63; ++seed) {
    memory.fill(seed);
    ASSERT_EQ(driver().launchGraph(exec, handle), kSuccess);
    memory.check(seed);
  }
  driver().destroyGraphExec(exec);
  driver().destroyGraph(graph);
  memory.call(*engine);
  EXPECT_EQ(counts_.graphs, graphs + 4) << "calls outside of the capture are replayed as before";
}

// Captures as torch.cuda.graph() does: on a stream of its own, in a mode that forbids unsafe calls of all threads.
TEST_F(Replay, ACaptureInTheStrictModeOnAStreamThatIsNew) {
  engine::LoadOptions options;
  options.memory = std::make_shared<testing::SameBlock>();
  const auto engine = load(gpu(), options);
  const testing::OwnStream before, captured;
  SameMemory warm(4, {before.handle()});
  warm.call(*engine);
  SameMemory memory(4, {captured.handle()});
  constexpr int kGlobal = 0;
  const testing::InContextOfGpu context;
  ASSERT_EQ(driver().beginCapture(captured.handle(), kGlobal), kSuccess);
  memory.enqueue(*engine);
  GraphHandle graph = nullptr;
  ASSERT_EQ(driver().endCapture(captured.handle(), &graph), kSuccess);
  GraphExecHandle exec = nullptr;
  ASSERT_EQ(driver().instantiate(&exec, graph, 0), kSuccess);
  memory.fill(61);
  ASSERT_EQ(driver().launchGraph(exec, captured.handle()), kSuccess);
  memory.check(61);
  driver().destroyGraphExec(exec);
  driver().destroyGraph(graph);
}

// Each kind of failure: results stay right, nothing is tried again for ever, nothing is left behind.
TEST_F(Replay, WhatTheDriverCannotRecordRunsLaunchByLaunch) {
  const size_t before = testing::livingGraphs();
  for (bool CountedDriver::Fails::*kind :
       {&CountedDriver::Fails::launchGraph, &CountedDriver::Fails::setKernelNode, &CountedDriver::Fails::instantiate,
        &CountedDriver::Fails::beginCapture, &CountedDriver::Fails::endCapture}) {
    CountedDriver::reset();
    fails_.*kind = true;
    {
      const auto engine = load(gpu());
      std::vector<std::unique_ptr<DeviceInputs>> kept;
      for (unsigned call = 0; call < 20; ++call) {
        const HostTensor tensor = tensorOf(4, call);
        kept.push_back(std::make_unique<DeviceInputs>(std::vector{tensor}));
        DeviceOutputs outputs;
        engine->enqueue(kept.back()->views(), outputs, engine::CallOptions{});
        expectEqual(outputs.values(), tensor);
      }
    }
    EXPECT_LE(counts_.instantiated, 4);
    EXPECT_EQ(testing::livingGraphs(), before);
  }
  fails_ = {};
}

TEST_F(Replay, ADriverWithoutGraphsRunsLaunchByLaunch) {
  Driver table = driver();
  const Driver whole = table;
  table.captureInfo = nullptr;
  useDriver(table);
  const auto engine = load(gpu());
  SameMemory memory(4);
  for (int call = 0; call < 5; ++call) {
    memory.call(*engine);
  }
  useDriver(whole);
  EXPECT_EQ(counts_.graphs, 0);
}

TEST_F(Replay, AnEnvironmentVariableSwitchesItOff) {
  setenv("TORCHTRT_CUDA_GRAPHS", "0", 1);
  EXPECT_EQ(engine::kernelSwitches(), ",no CUDA graphs");
  const auto engine = load(gpu());
  unsetenv("TORCHTRT_CUDA_GRAPHS");
  EXPECT_EQ(engine::kernelSwitches(), "");
  SameMemory memory(4);
  for (int call = 0; call < 5; ++call) {
    memory.call(*engine);
  }
  EXPECT_EQ(counts_.graphs, 0);
}

TEST_F(Replay, StepsOnTheHostAreNotRecorded) {
  const testing::HostPluginScope plugin;
  PlanMaker make = network();
  const int32_t z = make.plan().outputs[0].tensor;
  const std::string name_space = testing::HostPlugin::kNamespace, type = testing::HostPlugin::kType;
  make.output("copy", make.step("plugin_v2", {z}, make.at(z).dims,
                                {{"namespace", name_space}, {"type", type}, {"version", std::string("1")}}));
  const auto engine = engine::loadMade(make, {}, gpu());
  for (unsigned call = 0; call < 5; ++call) {
    auto results = callOnDevice(*engine, {tensorOf(4, call)});
    EXPECT_EQ(results.at(2), results.at(0));
    results.pop_back();
    expectEqual(results, tensorOf(4, call));
  }
  EXPECT_EQ(counts_.graphs, 0);
}

}  // namespace
}  // namespace torchtrt::cuda
