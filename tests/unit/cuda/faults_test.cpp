// Faults that the GPU meets while it runs, and those of the driver.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "cpu/harness.h"
#include "cuda/device/cuda_device.h"
#include "cuda/driver/driver.h"
#include "kernels/backend.h"

namespace torchtrt::cuda {
namespace {

using kernels::testing::Case;
using kernels::testing::iota;
using kernels::testing::makeAttributes;
using kernels::testing::makeTensor;
using kernels::testing::run;

template <typename Body>
std::string errorOf(const Body& body) {
  try {
    body();
  } catch (const EngineError& error) {
    return error.what();
  }
  return "no error";
}

Case gatherOf(double index) {
  return {"gather",
          makeAttributes({{"mode", std::string("default")}, {"axis", int64_t{0}}}),
          {makeTensor(DType::kFloat32, {3, 2}, iota(6)), makeTensor(DType::kInt64, {1}, {index})},
          {{DType::kFloat32, {1, 2}}}};
}

TEST(Faults, AnIndexOutOfRangeShowsWhenTheDeviceIsWaitedFor) {
  for (const double index : {3.0, -4.0}) {
    const std::string error = errorOf([&] { run(gatherOf(index)); });
    EXPECT_NE(error.find("[E008] an index was out of range"), std::string::npos) << error;
  }
  EXPECT_EQ(run(gatherOf(-1)).at(0).values(), (kernels::testing::Values{4, 5})) << "it is reported once";
}

TEST(Faults, AnIntegerDividedByZeroShowsWhenTheDeviceIsWaitedFor) {
  for (const char* op : {"floor_div", "trunc_div", "mod", "fmod"}) {
    const std::string error = errorOf([&] {
      run({"elementwise",
           makeAttributes({{"op", std::string(op)}}),
           {makeTensor(DType::kInt32, {2}, {1, 2}), makeTensor(DType::kInt32, {2}, {1, 0})},
           {{DType::kInt32, {2}}}});
    });
    EXPECT_NE(error.find("[E011] an integer was divided by zero"), std::string::npos) << error;
  }
}

TEST(Faults, TooMuchMemorySaysHowMuchAndWhatFor) {
  const device::Device& device = kernels::deviceNamed("cuda:0");
  const std::string error = errorOf([&] { device.allocate(size_t{1} << 50, "a test's tensor"); });
  EXPECT_NE(error.find("[E007] a test's tensor: wanted 1125899906842624 bytes on device"), std::string::npos) << error;
  EXPECT_NE(device.allocate(64, "a test's tensor").data(), nullptr) << "the device is usable afterwards";
}

TEST(Faults, ADeviceThatIsNotThereIsNamed) {
  const std::string error = errorOf([] { kernels::deviceNamed("cuda:77"); });
  EXPECT_NE(error.find("[E006] there is no device cuda:77: the last one is cuda:"), std::string::npos) << error;
  EXPECT_NE(errorOf([] { kernels::deviceNamed("cuda:x"); }).find("\"cuda:x\" is no device"), std::string::npos);
}

TEST(Faults, AForkedChildIsToldThatCudaWorksInNone) {
  const device::Device& device = kernels::deviceNamed("cuda:0");
  const pid_t child = fork();
  if (child == 0) {
    const auto isTold = [](const std::string& error) {
      return error.find("this process was forked after CUDA had been used") != std::string::npos;
    };
    const bool with_device = isTold(errorOf([&] { device.wait({}); }));
    const bool by_name = isTold(errorOf([] { kernels::deviceNamed("cuda:0"); }));
    _exit(with_device && by_name ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// A driver that says of every stream that it is captured, for the life of this.
class Capturing {
 public:
  Capturing() : before_(driver()) {
    Driver table = before_;
    table.isCapturing = [](StreamHandle, int* status) -> Result { return *status = 1, kSuccess; };
    useDriver(table);
  }
  ~Capturing() {
    useDriver(before_);
  }

 private:
  Driver before_;
};

TEST(Faults, ACapturedStreamIsKnown) {
  const device::Device& device = kernels::deviceNamed("cuda:0");
  EXPECT_FALSE(device.isCapturing({}));
  const Capturing capturing;
  EXPECT_TRUE(device.isCapturing({}));
}

}  // namespace
}  // namespace torchtrt::cuda
