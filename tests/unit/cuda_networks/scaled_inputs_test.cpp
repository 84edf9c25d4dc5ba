// Squeeze and excitation on a GPU: a convolution of one tap multiplies the channels of its image itself.
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

struct Sizes {
  int64_t images = 1, channels = 24, outputs = 16;
  std::string taps = "1, 1", attributes = "activation=\"relu\"";
  std::string factors = "1, 1";  // places of the factors
};

std::string networkOf(const Sizes& sizes, const std::string& dtype) {
  const std::string images = std::to_string(sizes.images), channels = std::to_string(sizes.channels),
                    outputs = std::to_string(sizes.outputs);
  const int64_t taps = sizes.taps == "1, 1" ? 1 : 9;
  std::string data, same;
  for (int64_t i = 0; i < sizes.channels * sizes.outputs * taps; ++i) {
    data += (i == 0 ? "" : ", ") + std::to_string((i * 7 % 11 - 5) / 8.0);
  }
  for (int64_t i = 0; i < sizes.channels * sizes.channels; ++i) {
    same += std::string(i == 0 ? "" : ", ") + (i % (sizes.channels + 1) == 0 ? "0.5" : "0");
  }
  const auto constant = [&](const char* name, const std::string& dims, const std::string& values) {
    return std::string("  %") + name + " = constant() {} : " + dtype + "[" + dims + "] data=[" + values + "]\n";
  };
  // The first convolution has the channels of the image last, as those that scale it want them.
  return "network \"n\" () {\n  input %x : " + dtype + "[" + images + ", " + channels +
         ", 8, 8]\n  input %f : " + dtype + "[" + images + ", " + channels + ", " + sizes.factors + "]\n" +
         constant("w", outputs + ", " + channels + ", " + sizes.taps, data) +
         constant("v", channels + ", " + channels + ", 1, 1", same) +
         "  %r = convolution(%x, %v) {activation=\"relu\"}\n  %y = elementwise(%r, %f) {op=\"prod\"}\n" +
         "  %z = convolution(%y, %w) {" + sizes.attributes + "}\n  output \"z\" %z\n}";
}

network::Weights valuesOf(DType dtype, const std::vector<int64_t>& dims, int64_t seed) {
  void* memory = nullptr;
  network::Weights values = network::Weights::allocate(dtype, dims, &memory);
  for (size_t i = 0; i < values.count(); ++i) {
    const float value = static_cast<float>(static_cast<int64_t>(i) * seed % 13 - 6) / 8;
    if (dtype == DType::kFloat16) {
      static_cast<kernels::Float16*>(memory)[i] = kernels::toFloat16(value);
    } else {
      static_cast<kernels::BFloat16*>(memory)[i] = kernels::toBFloat16(value);
    }
  }
  return values;
}

std::string scheduleOf(const Sizes& sizes, DType dtype = DType::kFloat16) {
  const std::string text = networkOf(sizes, toString(dtype));
  const auto network = network::parse(text);
  const int64_t places = sizes.factors == "1, 1" ? 1 : 8;
  const std::vector<network::Weights> inputs = {valuesOf(dtype, {sizes.images, sizes.channels, 8, 8}, 5),
                                                valuesOf(dtype, {sizes.images, sizes.channels, places, places}, 7)};
  const auto expected = torchtrt::testing::interpretIfPossible(*network, inputs);
  const auto engine = builder::loadPlan(builder::optimizeAndBuild(*network));
  const std::vector<network::Weights> got = builder::runEngine(*engine, inputs);
  EXPECT_TRUE(expected.has_value());
  for (size_t i = 0; expected && i < got.size(); ++i) {
    EXPECT_TRUE(torchtrt::testing::agree(got[i], (*expected)[i])) << text;
  }
  return engine::scheduleAtOptimum(*engine);
}

constexpr const char* kFused = "scale_input";

TEST(ScaledInputs, OfOneImageAreMultipliedByTheConvolution) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t channels : {8, 24, 264}) {
      Sizes sizes;
      sizes.channels = channels;
      EXPECT_THAT(scheduleOf(sizes, dtype), HasSubstr(kFused)) << channels;
    }
  }
}

TEST(ScaledInputs, OfOtherConvolutionsAreNot) {
  Sizes images;
  images.images = 2;
  EXPECT_THAT(scheduleOf(images), HasSubstr("scales the channels of one image"));
  Sizes taps;
  taps.taps = "3, 3";
  EXPECT_THAT(scheduleOf(taps), HasSubstr("scales what windows of one place read"));
  Sizes places;
  places.factors = "8, 8";
  EXPECT_THAT(scheduleOf(places), Not(HasSubstr(std::string("[tensor_cores] ") + kFused)));
}

}  // namespace
}  // namespace torchtrt::cuda::testing
