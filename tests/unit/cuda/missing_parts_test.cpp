// Parts that a machine may lack for engines on a GPU, each with its message.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cuda/compile/program.h"
#include "cuda/device_call.h"
#include "cuda/driver/library.h"
#include "cuda/injected.h"
#include "cuda/small_network.h"

namespace torchtrt::cuda {
namespace {

using testing::gpu;
using testing::Injection;
using torchtrt::testing::errorOf;

// This driver, or none, for the life of a test.
class OtherDriver {
 public:
  explicit OtherDriver(const std::string& reason) : before_(driver()) {
    useDriver(before_, reason);
  }
  explicit OtherDriver(const Driver& table) : before_(driver()) {
    useDriver(table);
  }
  ~OtherDriver() {
    useDriver(before_);
  }
  OtherDriver(const OtherDriver&) = delete;
  OtherDriver& operator=(const OtherDriver&) = delete;

 private:
  Driver before_;
};

TEST(MissingParts, NoDriver) {
  const OtherDriver none("there is no NVIDIA driver (libcuda.so.1: cannot open shared object file)");
  EXPECT_EQ(errorOf([] { gpu(); }),
            "[E006] there is no device cuda:0: there is no NVIDIA driver (libcuda.so.1: cannot open shared object file)"
            "\n  use the device \"cpu\"");
}

TEST(MissingParts, ADriverThatFindsNoGpu) {
  Driver table = driver();
  table.deviceCount = [](int* count) -> Result { return *count = 0, kSuccess; };
  const OtherDriver driver(table);
  EXPECT_NE(errorOf([] { gpu(); }).find("[E006] there is no device cuda:0: the NVIDIA driver finds no GPU"),
            std::string::npos);
}

TEST(MissingParts, AGpuBehindTheLast) {
  EXPECT_NE(errorOf([] {
              kernels::deviceNamed("cuda:7777");
            }).find("[E006] there is no device cuda:7777: the last one is cuda:"),
            std::string::npos);
}

TEST(MissingParts, ADriverThatIsTooOldOrDoesNotStart) {
  Driver table = driver();
  table.init = [](unsigned) -> Result { return kSuccess; };
  table.driverVersion = [](int* version) -> Result { return *version = 11080, kSuccess; };
  EXPECT_EQ(startDriver(table), "the NVIDIA driver is too old: it supports CUDA 11.8, expected 12.0 or newer");
  table.driverVersion = [](int*) -> Result { return 999; };
  EXPECT_EQ(startDriver(table).find("the NVIDIA driver does not tell its version: "), 0U);
  table.init = [](unsigned) -> Result { return 100; };
  table.errorString = [](Result, const char** text) -> Result {
    return *text = "no CUDA-capable device is detected", kSuccess;
  };
  EXPECT_EQ(startDriver(table), "the NVIDIA driver does not start: no CUDA-capable device is detected");
  table.errorString = [](Result, const char**) -> Result { return 1; };
  EXPECT_EQ(startDriver(table), "the NVIDIA driver does not start: unknown error");
}

// A library that has one function of the driver.
TEST(MissingParts, ADriverThatLacksAFunction) {
  Driver table;
  const std::string reason = openDriver(table);
  if (reason.find("there is no NVIDIA driver (") != 0) {
    GTEST_SKIP() << "there is a driver here";
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "torchtrt_old_driver";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "old.cpp") << "extern \"C\" int cuInit(unsigned) { return 0; }";
  const std::string build =
      "g++ -shared -fPIC -o " + (folder / "libcuda.so.1").string() + " " + (folder / "old.cpp").string();
  ASSERT_EQ(std::system(build.c_str()), 0);
  const std::string libraries = std::getenv("TORCHTRT_CUDA_LIBRARIES");
  setenv("TORCHTRT_CUDA_LIBRARIES", folder.c_str(), 1);
  EXPECT_EQ(openDriver(table), "the NVIDIA driver is too old: it has no function cuDriverGetVersion");
  setenv("TORCHTRT_CUDA_LIBRARIES", libraries.c_str(), 1);
  std::filesystem::remove_all(folder);
}

TEST(MissingParts, AFolderOfLibrariesThatDependsOnTheWorkingDirectory) {
  const std::string libraries = std::getenv("TORCHTRT_CUDA_LIBRARIES");
  setenv("TORCHTRT_CUDA_LIBRARIES", "libraries", 1);
  const Library library("libtorchtrt_none.so", "none");
  setenv("TORCHTRT_CUDA_LIBRARIES", libraries.c_str(), 1);
  EXPECT_FALSE(library.isOpen());
  EXPECT_EQ(library.reason(), "TORCHTRT_CUDA_LIBRARIES is \"libraries\", expected a path that begins with /");
}

// NVRTC's functions, or a reason why there are none, for the life of a test.
class OtherNvrtc {
 public:
  OtherNvrtc() {
    std::string reason;
    const Nvrtc* const found = findNvrtc(reason);
    is_there_ = found != nullptr;
    before_ = is_there_ ? *found : Nvrtc();
    reason_ = reason;
  }
  ~OtherNvrtc() {
    useNvrtc(before_, reason_);
  }
  OtherNvrtc(const OtherNvrtc&) = delete;
  OtherNvrtc& operator=(const OtherNvrtc&) = delete;
  const Nvrtc& table() const {
    return before_;
  }
  bool isThere() const {
    return is_there_;
  }

 private:
  Nvrtc before_;
  std::string reason_;
  bool is_there_ = false;
};

constexpr const char* kText = "extern \"C\" __global__ void nothing(float* x) { (void)x; }";

TEST(MissingParts, NoNvrtc) {
  const OtherNvrtc other;
  useNvrtc({}, "libnvrtc.so.13: cannot open shared object file");
  EXPECT_EQ(errorOf([] { compileByNvrtc(kText, "sm_90"); }),
            "[E006] NVRTC, which compiles kernels for the GPU, is missing: libnvrtc.so.13: cannot open shared object "
            "file\n  install torch with CUDA, or set TORCHTRT_CUDA_LIBRARIES to a folder with libnvrtc.so.13");
}

TEST(MissingParts, AnArchitectureThatNvrtcDoesNotKnow) {
  const OtherNvrtc other;
  if (!other.isThere()) {
    GTEST_SKIP() << "there is no NVRTC here";
  }
  const std::string error = errorOf([] { compileByNvrtc(kText, "sm_10"); });
  EXPECT_NE(error.find("[E006] NVRTC compiles nothing for the architecture sm_10: "), std::string::npos) << error;
  EXPECT_NE(error.find("TORCHTRT_CUDA_LIBRARIES"), std::string::npos) << error;
}

TEST(MissingParts, EachFunctionOfNvrtcFails) {
  const OtherNvrtc other;
  if (!other.isThere()) {
    GTEST_SKIP() << "there is no NVRTC here";
  }
  Nvrtc table = other.table();
  const std::vector<std::string> names = testing::wrap(table);
  useNvrtc(table);
  for (int function = 0; function < static_cast<int>(names.size()); ++function) {
    const std::string& name = names[static_cast<size_t>(function)];
    const bool is_of_log = name.find("Log") != std::string::npos;
    // Nothing else frees the program.
    const bool works = name == "nvrtcDestroyProgram";
    Injection::now() = {function, 1, false, nvrtc::kOutOfMemory, false, works};
    const std::string error = errorOf([&] { compileByNvrtc(kText, is_of_log ? "sm_10" : "sm_90"); });
    EXPECT_TRUE(Injection::now().happened) << name;
    Injection::now() = {};
    EXPECT_TRUE(name == "nvrtcDestroyProgram" ? error.empty() : error.find("[E007]") == 0) << name << ": " << error;
  }
  EXPECT_FALSE(compileByNvrtc(kText, "sm_90").empty());
}

TEST(MissingParts, MemoryForWeightsSaysHowMuchAndWhatFor) {
  const Driver before = driver();
  Driver table = before;
  table.allocate = [](DevicePointer*, size_t, StreamHandle) -> Result { return kOutOfMemory; };
  {
    const OtherDriver full(table);
    EXPECT_NE(errorOf([] { testing::load(gpu()); }).find("[E007] loading the engine's weights: wanted "),
              std::string::npos);
  }
  EXPECT_NE(testing::load(gpu()), nullptr);
}

TEST(MissingParts, MemoryForACallSaysHowMuchAndTheModuleStaysUsable) {
  const auto engine = testing::load(gpu());
  const testing::HostTensor tensor = testing::tensorOf(4, 1);
  const testing::DeviceInputs inputs({tensor});
  testing::GivenOutputs outputs(2);
  const auto call = [&] { engine->enqueue(inputs.views(), outputs, engine::CallOptions{}); };
  Driver table = driver();
  table.allocate = [](DevicePointer*, size_t, StreamHandle) -> Result { return kOutOfMemory; };
  for (int round = 0; round < 4; ++round) {  // before and behind the recording of a call
    {
      const OtherDriver full(table);
      const std::string error = errorOf(call);
      EXPECT_NE(error.find("[E007] the engine's workspace: wanted "), std::string::npos) << error;
      EXPECT_NE(error.find(" bytes on device " + gpu().properties().name), std::string::npos) << error;
    }
    call();
    testing::expectEqual(outputs.values(), tensor);
  }
}

}  // namespace
}  // namespace torchtrt::cuda
