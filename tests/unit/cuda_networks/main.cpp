// Tests of whole engines on a GPU: on the emulation, or where TORCHTRT_TEST_DEVICE says ("cuda:0").
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda/emulation.h"

namespace torchtrt::cuda::testing {
namespace {

// Before the first test of any file.
class Environment final : public ::testing::Environment {
 public:
  void SetUp() override {
    installEmulation();
    setenv("TORCHTRT_TEST_DEVICE", "cuda:0", /*overwrite=*/0);
  }
};

const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new Environment);

}  // namespace
}  // namespace torchtrt::cuda::testing
