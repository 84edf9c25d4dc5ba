// Three faults of an engine that only an asynchronous device shows, planted in what lies below it: the deferred device
// finds each. Without them the same calls are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/load.h"
#include "support/counted_plan.h"
#include "support/deferred_backend.h"
#include "torchtrt/plugin.h"

namespace torchtrt::engine {
namespace {

using testing::DeferredDevice;
using ::testing::ElementsAre;
using testing::HostTensor;
using testing::PlanMaker;

char name_of_stream;
const device::Stream kStream{&name_of_stream};

// relu(x) + w, and the places where relu(x) is not 0: a workspace, a weight, and an output that is counted.
std::shared_ptr<const LoadedEngine> engineOn(const device::Device& device, const LoadOptions& options = {}) {
  testing::deferredDevice();  // makes the backend's name known
  plugin::registerBuiltinPlugins();
  PlanMaker make("net");
  const int32_t relu = make.activation("relu", make.input("x", make.dims({4})));
  make.output("places", testing::addPlaces(make, relu, make.number(4)).places);
  make.output("sum", make.elementwise("sum", relu, make.floats("w", {4}, {10, 20, 30, 40})));
  return loadMade(make, options, device);
}

void expectRightAnswers(const LoadedEngine& engine, const device::Device& device) {
  const HostTensor x({4}, {1, -1, 2, -2});
  const testing::InputsOnDevice given(device, std::vector{x.view()}, kStream);
  testing::KeptOutputs outputs(device, kStream);
  engine.enqueue(given.views(), outputs, CallOptions{1, kStream.handle});
  EXPECT_THAT(outputs.outputs[0].values<int64_t>(), ElementsAre(0, 2));
  EXPECT_THAT(outputs.outputs[1].values(), ElementsAre(11, 20, 32, 40));
}

class PlantedFaultsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(PlantedFaultsDeathTest, WithoutThemAnswersAreRight) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const DeferredDevice device(seed);
    const auto engine = engineOn(device);
    for (int call = 0; call < 3; ++call) {
      expectRightAnswers(*engine, device);
    }
  }
}

// The host reads what it should have copied, as code for the CPU does.
class ReadOnHost final : public DeferredDevice {
 public:
  void copyOut(void* to, const void* from, size_t bytes, device::Stream stream) const override {
    wait(stream);
    Device::copyOut(to, from, bytes, stream);
  }
};

TEST_F(PlantedFaultsDeathTest, AHostRead) {
  const ReadOnHost device;
  const auto engine = engineOn(device);
  EXPECT_DEATH(expectRightAnswers(*engine, device), "the host touches memory of the device");
}

// Nobody waits until the weights have been copied; a call in another stream reads them.
class LostWait final : public DeferredDevice {
 public:
  void wait(device::Stream stream) const override {
    if (stream.handle != nullptr) {
      DeferredDevice::wait(stream);
    }
  }
};

TEST_F(PlantedFaultsDeathTest, ALostWait) {
  const LostWait device;
  const auto engine = engineOn(device);
  EXPECT_DEATH(expectRightAnswers(*engine, device),
               "the memory of elementwise is used in one stream while another may still use it: nobody waited");
  device.DeferredDevice::wait({});
}

// Workspaces go back as soon as they have come. They are of a size that nothing else takes again.
class FreedEarly final : public device::MemorySource {
 public:
  explicit FreedEarly(const device::Device& device) : device_(device) {}
  void* allocate(size_t bytes, device::Stream stream) override {
    return device_.allocate(bytes + kMore, "a workspace", stream).data();
  }
  void free(void*, size_t, device::Stream) override {}

 private:
  static constexpr size_t kMore = 20000;
  const device::Device& device_;
};

TEST_F(PlantedFaultsDeathTest, ABufferFreedEarly) {
  const DeferredDevice device;
  LoadOptions options;
  options.memory = std::make_shared<FreedEarly>(device);
  const auto engine = engineOn(device, options);
  EXPECT_DEATH(expectRightAnswers(*engine, device), "activation is given memory that was given back");
}

}  // namespace
}  // namespace torchtrt::engine
