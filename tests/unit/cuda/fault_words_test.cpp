// Faults in the data of an engine's calls: told by the step and its source line, to the stream and the engine that met
// them.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/counted_driver.h"
#include "cuda/device_call.h"
#include "cuda/host_plugin.h"

namespace torchtrt::cuda {
namespace {

using engine::LoadedEngine;
using testing::callOnDevice;
using testing::DeviceInputs;
using testing::DeviceOutputs;
using testing::gpu;
using testing::OwnStream;
using torchtrt::testing::HostTensor;
using torchtrt::testing::PlanMaker;

// relu(first[x]) and second[x] behind each other; `x` as floats, three rows in `first` and five in `second`.
PlanMaker twoTables() {
  PlanMaker make("tables");
  const PlanMaker::Registers dims = make.dims({1});
  const int32_t x = make.input("x", dims);
  const int32_t index = make.step("cast", {x}, dims, {{"to", DType::kInt64}}, DType::kInt64);
  const auto take = [&](const std::vector<float>& table, int line) {
    const int32_t weight = make.floats("table" + std::to_string(line), {static_cast<int64_t>(table.size())}, table);
    const int32_t out =
        make.step("gather", {weight, index}, dims, {{"mode", std::string("default")}, {"axis", int64_t{0}}});
    make.lastStep().location = {"model.py", line, 8, "forward", "table" + std::to_string(line)};
    return out;
  };
  make.output("y", make.activation("relu", take({1, 2, 3}, 11)));
  make.output("z", take({1, 2, 3, 4, 5}, 12));
  return make;
}

std::shared_ptr<const LoadedEngine> load() {
  PlanMaker make = twoTables();
  return engine::loadMade(make, {}, gpu());
}

std::string call(const engine::Engine& engine, float index, device::Stream stream = {}) {
  return torchtrt::testing::errorOf([&] {
    const DeviceInputs inputs({HostTensor({1}, {index})}, stream);
    DeviceOutputs outputs(stream);
    engine.enqueue(inputs.views(), outputs, engine::CallOptions{1, stream.handle});
    gpu().wait(stream);
  });
}

void expectFault(const std::string& error, const std::string& step, int line) {
  EXPECT_NE(error.find("[E008] step '" + step + "': an index was out of range in an earlier call"), std::string::npos)
      << error;
  EXPECT_NE(error.find("model.py:" + std::to_string(line) + ":8"), std::string::npos) << error;
}

TEST(FaultWords, TheNextCallNamesTheStepAndItsLine) {
  const auto engine = load();
  EXPECT_EQ(call(*engine, 2), "");
  EXPECT_EQ(call(*engine, 4), "") << "the call itself does not wait";
  expectFault(call(*engine, 2), "gather1", 11);
  EXPECT_EQ(call(*engine, 2), "") << "it is told once";
  EXPECT_EQ(call(*engine, 9), "");
  expectFault(call(*engine, 0), "gather1", 11);
  expectFault(call(*engine, 0), "gather3", 12);
  EXPECT_EQ(call(*engine, 0), "");
}

// Loading runs the engine on zeros, which some engines do not take.
TEST(FaultWords, NobodyHearsOfTheCallsOfLoading) {
  PlanMaker make("quotient");
  const PlanMaker::Registers dims = make.dims({1});
  const int32_t x = make.step("cast", {make.input("x", dims)}, dims, {{"to", DType::kInt64}}, DType::kInt64);
  const int32_t quotient = make.step("elementwise", {x, x}, dims, {{"op", std::string("floor_div")}}, DType::kInt64);
  make.output("y", make.step("cast", {quotient}, dims, {{"to", DType::kFloat32}}));
  const auto engine = engine::loadMade(make, {}, gpu());
  EXPECT_EQ(call(*engine, 2), "");
  EXPECT_EQ(call(*engine, 2), "");
  EXPECT_EQ(call(*engine, 0), "");
  EXPECT_NE(call(*engine, 2).find("[E011] step 'elementwise"), std::string::npos);
}

TEST(FaultWords, AStreamHearsOfItsOwnCallsAlone) {
  const auto engine = load();
  const OwnStream other;
  EXPECT_EQ(call(*engine, 3, other.stream()), "");
  EXPECT_EQ(call(*engine, 1), "");
  expectFault(call(*engine, 1, other.stream()), "gather1", 11);
}

TEST(FaultWords, AnEngineHearsOfItsOwnCallsAlone) {
  const auto engine = load();
  const auto other = load();
  EXPECT_EQ(call(*engine, 3), "");
  EXPECT_EQ(call(*other, 1), "");
  expectFault(call(*engine, 1), "gather1", 11);
}

TEST(FaultWords, ReplayedCallsReportAsOthersDo) {
  const testing::CountedDriver counted;
  const auto engine = load();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(call(*engine, 1), "");
  }
  EXPECT_GT(counted.counts().graphs, 0);
  EXPECT_EQ(call(*engine, 4), "");
  expectFault(call(*engine, 1), "gather1", 11);
  EXPECT_EQ(call(*engine, 1), "");
}

TEST(FaultWords, ARecordedCallReportsToCallsInAnyStream) {
  PlanMaker make = twoTables();
  engine::LoadOptions options;
  options.memory = std::make_shared<testing::SameBlock>();
  const auto engine = engine::loadMade(make, options, gpu());
  const OwnStream recorded, replayed;
  DeviceInputs inputs({HostTensor({1}, {0})});
  testing::GivenOutputs outputs(engine->outputs().size());
  const testing::InContextOfGpu context;
  ASSERT_EQ(driver().beginCapture(recorded.handle(), kCaptureRelaxed), kSuccess);
  engine->enqueue(inputs.views(), outputs, engine::CallOptions{1, recorded.handle()});
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  ASSERT_EQ(driver().endCapture(recorded.handle(), &graph), kSuccess);
  ASSERT_EQ(driver().instantiate(&exec, graph, 0), kSuccess);
  inputs.fill({HostTensor({1}, {4})});
  ASSERT_EQ(driver().launchGraph(exec, replayed.handle()), kSuccess);
  gpu().wait(replayed.stream());
  expectFault(call(*engine, 1), "gather1", 11);
  EXPECT_EQ(call(*engine, 1), "");
  driver().destroyGraphExec(exec);
  driver().destroyGraph(graph);
}

TEST(FaultWords, ACallThatWaitsTellsItsOwn) {
  const testing::HostPluginScope plugin;
  PlanMaker make = twoTables();
  const int32_t z = make.plan().outputs[1].tensor;
  const std::string name_space = testing::HostPlugin::kNamespace, type = testing::HostPlugin::kType;
  make.output("copy", make.step("plugin_v2", {z}, make.at(z).dims,
                                {{"namespace", name_space}, {"type", type}, {"version", std::string("1")}}));
  const auto engine = engine::loadMade(make, {}, gpu());
  ASSERT_NE(engine->inspect().find("[host]"), std::string::npos);
  EXPECT_EQ(call(*engine, 1), "");
  expectFault(call(*engine, 4), "gather1", 11);
  EXPECT_EQ(call(*engine, 1), "");
}

TEST(FaultWords, ManyStreamsAndEnginesCostLittleMemory) {
  static int allocations;
  static Driver before;
  before = driver();
  Driver table = before;
  allocations = 0;
  table.allocateHost = [](void** data, size_t bytes, unsigned flags) -> Result {
    ++allocations;
    return before.allocateHost(data, bytes, flags);
  };
  useDriver(table);
  {
    const auto engine = load();
    std::vector<std::unique_ptr<OwnStream>> streams;
    for (int i = 0; i < 200; ++i) {
      streams.push_back(std::make_unique<OwnStream>());
      EXPECT_EQ(call(*engine, 1, streams.back()->stream()), "");
    }
  }
  const int first = allocations;
  EXPECT_LE(first, 201);
  const auto& reporter = dynamic_cast<const device::FaultReporter&>(gpu());
  for (int i = 0; i < 20000; ++i) {
    EXPECT_FALSE(reporter.faultWords(5)->take().has_value()) << "what was there before is gone";
  }
  EXPECT_LE(allocations - first, 4100) << "blocks come again once many were given back";
  useDriver(before);
}

}  // namespace
}  // namespace torchtrt::cuda
