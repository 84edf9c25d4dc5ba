// The cap is read once per process, so every value of the variable is tried in a process of its own.
#include "cpu/simd/isa.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdio>
#include <cstdlib>

#include "torchtrt/error.h"

namespace torchtrt::kernels {
namespace {

// Exits with 0 if the cap is `expected` and Highway keeps to it, else with 1; with 2 and the text of an error.
[[noreturn]] void exitWithCap(const char* variable, Isa expected) {
  setenv("TORCHTRT_MAX_ISA", variable, 1);
  try {
    const bool kept = isaCap() == expected && (hwy::SupportedTargets() & highwayTargetsAbove(expected)) == 0;
    std::_Exit(kept ? 0 : 1);
  } catch (const EngineError& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(2);
  }
}

class IsaCap : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process, not a fork of one that has read the variable
  }
};

TEST_F(IsaCap, ComesFromTheEnvironment) {
  EXPECT_EXIT(exitWithCap("sse4", Isa::kSse4), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exitWithCap("avx2", Isa::kAvx2), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exitWithCap("avx512_vnni", Isa::kAvx512Vnni), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exitWithCap("", Isa::kNative), ::testing::ExitedWithCode(0), "");
}

TEST_F(IsaCap, NamesWhatItDoesNotKnow) {
  EXPECT_EXIT(exitWithCap("avx1024", Isa::kNative), ::testing::ExitedWithCode(2), "C003.*'avx1024'");
}

TEST(Isa, NamesAreReadBackAndCapsNest) {
  int64_t allowed = 0;
  for (const Isa isa : {Isa::kSse4, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAvx512Fp16,
                        Isa::kAmx, Isa::kNative}) {
    EXPECT_EQ(parseIsa(toString(isa)), isa);
    EXPECT_EQ(allowed & highwayTargetsAbove(isa), 0) << toString(isa);  // what a weaker level allows stays allowed
    allowed |= ~highwayTargetsAbove(isa);
  }
  EXPECT_EQ(highwayTargetsAbove(Isa::kNative), 0);
  EXPECT_EQ(parseIsa("avx1024"), std::nullopt);
}

}  // namespace
}  // namespace torchtrt::kernels
