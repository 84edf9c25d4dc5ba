// A driver of which each function fails in turn, while engines are loaded, called and freed: an error that says what
// failed, or another way to the right result; nothing is left behind, and the next call is right.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cuda/compile/program.h"
#include "cuda/device_call.h"
#include "cuda/emulation.h"
#include "cuda/host_plugin.h"
#include "cuda/injected.h"
#include "cuda/small_network.h"

namespace torchtrt::cuda {
namespace {

using testing::callOnDevice;
using testing::gpu;
using testing::HostTensor;
using testing::Injection;
using testing::PlanMaker;

// Loads an engine with a step on the host, or one that calls can be recorded of.
std::shared_ptr<const engine::LoadedEngine> loadEngine(bool with_host_step) {
  PlanMaker make = testing::network();
  if (with_host_step) {
    const int32_t z = make.plan().outputs[0].tensor;
    const std::string name_space = testing::HostPlugin::kNamespace, type = testing::HostPlugin::kType;
    make.output("copy", make.step("plugin_v2", {z}, make.at(z).dims,
                                  {{"namespace", name_space}, {"type", type}, {"version", std::string("1")}}));
  }
  return engine::loadMade(make, {}, gpu());
}

void expectRight(const engine::Engine& engine, unsigned seed) {
  const HostTensor tensor = testing::tensorOf(4, seed);
  std::vector<std::vector<float>> results = callOnDevice(engine, {tensor});
  results.resize(2);
  testing::expectEqual(results, tensor);
}

class DriverFailures : public ::testing::Test {
 protected:
  DriverFailures() : before_(driver()) {
    gpu();  // made with functions that work
    Driver table = before_;
    names_ = testing::wrap(table);
    useDriver(table);
  }
  ~DriverFailures() override {
    Injection::now() = {};
    useDriver(before_);
    testing::keepLivingMemory();
  }

  // Loads, calls six times and frees an engine. The error, if there was one.
  static std::string live(bool with_host_step) {
    std::shared_ptr<const engine::LoadedEngine> engine;
    std::string error;
    try {
      engine = loadEngine(with_host_step);
      for (unsigned call = 0; call < 6; ++call) {
        expectRight(*engine, call);
      }
    } catch (const EngineError& caught) {
      error = caught.what();
    }
    if (engine != nullptr && !error.empty()) {  // it stays usable
      Injection::now() = {};
      for (unsigned call = 10; call < 14; ++call) {
        expectRight(*engine, call);
      }
    }
    return error;
  }

  Driver before_;
  std::vector<std::string> names_;
  const testing::HostPluginScope plugin_;
};

TEST_F(DriverFailures, OfEachFunctionAtEachOfItsCalls) {
  ASSERT_EQ(live(false), "");  // what is kept for the life of the process
  ASSERT_EQ(live(true), "");
  size_t memory = testing::livingMemory();
  size_t graphs = testing::livingGraphs();
  int failures = 0, told = 0;
  for (int function = 0; function < static_cast<int>(names_.size()); ++function) {
    const std::string& name = names_[static_cast<size_t>(function)];
    const bool frees = name == "cuMemFreeAsync" || name == "cuGraphDestroy" || name == "cuGraphExecDestroy";
    for (const bool with_host_step : {false, true}) {
      // Every call of the first few, then some: each place in the code is among them.
      for (int call = 1; call < 400; call += call < 60 ? 1 : 23) {
        Injection::now() = {function, call, false, 999, false};
        const std::string error = live(with_host_step);
        const bool happened = Injection::now().happened || !error.empty();
        Injection::now() = {};
        if (!happened) {
          break;
        }
        ++failures;
        told += error.empty() ? 0 : 1;
        EXPECT_TRUE(error.empty() || error.find("the CUDA driver says") != std::string::npos) << name << ": " << error;
        if (frees) {  // what the driver does not free stays
          memory = testing::livingMemory();
          graphs = testing::livingGraphs();
        }
        ASSERT_EQ(testing::livingMemory(), memory) << name << ", call " << call << ": " << error;
        ASSERT_EQ(testing::livingGraphs(), graphs) << name << ", call " << call << ": " << error;
      }
    }
  }
  EXPECT_GT(failures, 200);
  EXPECT_GT(told, 100);
}

TEST_F(DriverFailures, OfEachFunctionFromSomeCallOn) {
  for (int function = 0; function < static_cast<int>(names_.size()); ++function) {
    const std::string& name = names_[static_cast<size_t>(function)];
    for (const int call : {1, 4, 20}) {
      Injection::now() = {function, call, true, 999, false};
      std::string error;
      std::shared_ptr<const engine::LoadedEngine> engine;
      try {
        engine = loadEngine(true);
        expectRight(*engine, 1);
        engine = nullptr;  // while everything fails
        expectRight(*loadEngine(false), 2);
      } catch (const EngineError& caught) {
        error = caught.what();
        engine = nullptr;
      }
      Injection::now() = {};
      EXPECT_TRUE(error.empty() || error.find("the CUDA driver says") != std::string::npos) << name << ": " << error;
    }
  }
  EXPECT_EQ(live(true), "") << "all of it works again";
}

TEST_F(DriverFailures, OfTheFirstUseOfADevice) {
  int failures = 0;
  for (int function = 0; function < static_cast<int>(names_.size()); ++function) {
    for (int call = 1; call < 10; ++call) {
      Injection::now() = {function, call, false, 999, false};
      const std::string error = torchtrt::testing::errorOf([] {
        static auto* const devices = new std::vector<std::unique_ptr<const CudaDevice>>;  // they outlive all memory
        devices->push_back(std::make_unique<const CudaDevice>(0));
      });
      const bool happened = Injection::now().happened;
      Injection::now() = {};
      if (!happened) {
        break;
      }
      ++failures;
      const std::string& name = names_[static_cast<size_t>(function)];
      const bool is_told = error.find("the CUDA driver says") != std::string::npos;
      const bool goes_back = name == "cuCtxSetCurrent" || name == "cuThreadExchangeStreamCaptureMode";
      EXPECT_TRUE(is_told || (error.empty() && goes_back)) << name << ": back to the context before";
    }
  }
  EXPECT_GE(failures, 10);
}

TEST_F(DriverFailures, NewDeviceCodeThatDoesNotLoad) {
  const auto& device = dynamic_cast<const CudaDevice&>(gpu());
  Source source;
  source.define("NEVER_SEEN", "\nextern \"C\" __global__ void nothing(float* x) { (void)x; }");
  for (int function = 0; function < static_cast<int>(names_.size()); ++function) {
    if (names_[static_cast<size_t>(function)] == "cuModuleLoadData") {
      Injection::now() = {function, 1, false, 209, false};
    }
  }
  const auto find = [&] { DeviceFunction(device, source, "nothing").get(); };
  EXPECT_NE(torchtrt::testing::errorOf(find).find("[E006] loading compiled device code: the CUDA driver says"),
            std::string::npos);
  EXPECT_EQ(torchtrt::testing::errorOf(find), "") << "it is tried again";
}

}  // namespace
}  // namespace torchtrt::cuda
