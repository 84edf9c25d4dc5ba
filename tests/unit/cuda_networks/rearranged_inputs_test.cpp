// Reorders that are left out before a step that rearranges its operand for itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "builder/run.h"
#include "engine/schedule/optimum.h"
#include "kernels/scalar/half.h"
#include "support/interpreter.h"
#include "torchtrt/network.h"

namespace torchtrt::cuda::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One or two convolutions of an image by 8 filters.
std::string networkOf(int64_t channels, const std::string& size, const std::string& attributes, bool has_other_reader) {
  const int64_t taps = size == "3, 3" ? 9 : 16;
  std::string data;
  for (int64_t i = 0; i < 8 * channels * taps; ++i) {
    data += (i == 0 ? "" : ", ") + std::to_string((i * 7 % 11 - 5) / 8.0);
  }
  const std::string dims = std::to_string(channels);
  return "network \"n\" () {\n  input %x : float16[2, " + dims + ", 8, 8]\n  %w = constant() {} : float16[8, " + dims +
         ", " + size + "] data=[" + data + "]\n  %y = convolution(%x, %w) {" + attributes + "}\n  output \"y\" %y\n" +
         (has_other_reader
              ? "  %v = constant() {} : float16[8, " + dims + ", " + size + "] data=[" + data +
                    "]\n  %z = convolution(%x, %v) {" + attributes + ", activation=\"sigmoid\"}\n  output \"z\" %z\n"
              : "") +
         "}";
}

network::Weights imageOf(int64_t channels) {
  void* memory = nullptr;
  network::Weights image = network::Weights::allocate(DType::kFloat16, {2, channels, 8, 8}, &memory);
  for (int64_t i = 0; i < 128 * channels; ++i) {
    static_cast<kernels::Float16*>(memory)[i] = kernels::toFloat16(static_cast<float>(i * 5 % 13 - 6) / 8);
  }
  return image;
}

std::string scheduleOf(int64_t channels, const std::string& size, const std::string& attributes,
                       bool has_other_reader) {
  const std::string text = networkOf(channels, size, attributes, has_other_reader);
  const auto network = network::parse(text);
  const std::vector<network::Weights> inputs = {imageOf(channels)};
  const auto expected = torchtrt::testing::interpretIfPossible(*network, inputs);
  const auto engine = builder::loadPlan(builder::optimizeAndBuild(*network));
  const std::vector<network::Weights> got = builder::runEngine(*engine, inputs);
  EXPECT_TRUE(expected.has_value());
  for (size_t i = 0; expected && i < got.size(); ++i) {
    EXPECT_TRUE(torchtrt::testing::agree(got[i], (*expected)[i])) << text;
  }
  return engine::scheduleAtOptimum(*engine);
}

constexpr const char* kLeftOut = "the one step that reads it rearranges it";

TEST(RearrangedInputs, OfPatchesAreReadAsTheyLie) {
  EXPECT_THAT(scheduleOf(3, "4, 4", "stride=[4, 4]", false), HasSubstr(kLeftOut));
}

TEST(RearrangedInputs, OfFewChannelsAreReadAsTheyLie) {
  EXPECT_THAT(scheduleOf(3, "3, 3", "stride=[1, 1]", false), HasSubstr(kLeftOut));
}

TEST(RearrangedInputs, OfOtherWindowsAreReordered) {
  EXPECT_THAT(scheduleOf(8, "3, 3", "stride=[1, 1]", false), Not(HasSubstr(kLeftOut)));
}

TEST(RearrangedInputs, ThatOthersReadAreReordered) {
  EXPECT_THAT(scheduleOf(3, "4, 4", "stride=[4, 4]", true), Not(HasSubstr(kLeftOut)));
}

}  // namespace
}  // namespace torchtrt::cuda::testing
