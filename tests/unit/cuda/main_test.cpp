// The tests of the CPU's kernels run on the GPU's, too (tests/unit/cpu/harness.h): on the emulation, or where
// TORCHTRT_TEST_DEVICE says ("cuda:0").
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "cpu/harness.h"
#include "cuda/compile/program.h"
#include "cuda/emulation.h"
#include "kernels/backend.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda::testing {
namespace {

// Before the first test of any file.
class Environment final : public ::testing::Environment {
 public:
  void SetUp() override {
    setenv("TORCHTRT_CUDA_LIBRARIES", TORCHTRT_NVRTC_FOLDER, /*overwrite=*/0);
    installEmulation();
    const char* const name = std::getenv("TORCHTRT_TEST_DEVICE");
    kernels::testing::useDevice(kernels::deviceNamed(name == nullptr ? "cuda:0" : name));
  }

  // The GPU's own compiler takes some of the texts that the tests made, for every architecture: all of them would take
  // minutes. Tensor maps are for the emulated one alone, and the first architecture has no clusters.
  void TearDown() override {
    constexpr size_t kEach = 12;
    const char* const architectures[] = {"sm_80", "sm_90", "sm_100", "sm_120"};
    const std::vector<std::string> texts = compiledTexts();
    for (size_t i = 0; i < texts.size(); i += kEach) {
      const auto has = [&](const char* piece) { return texts[i].find(piece) != std::string::npos; };
      const bool is_of_emulated = has("struct alignas(64) TensorMap") || has("OF_CLUSTER");
      const char* const architecture = is_of_emulated ? "sm_90" : architectures[i / kEach % std::size(architectures)];
      try {
        EXPECT_FALSE(compileByNvrtc(texts[i], architecture).empty());
      } catch (const EngineError& error) {
        EXPECT_FALSE(std::filesystem::exists(TORCHTRT_NVRTC_FOLDER "/libnvrtc.so.13")) << error.what();
        std::cout << "[  NVRTC   ] not tried: " << error.what() << "\n";
        return;
      } catch (const InternalError& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
};

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new Environment);

}  // namespace
}  // namespace torchtrt::cuda::testing
