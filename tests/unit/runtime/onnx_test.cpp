#include "runtime/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/small_engine.h"

namespace torchtrt::runtime {
namespace {

TEST(EnginesAsOnnx, RestoreWeightsThatTheyLetGo) {
  const auto engine = productEngine(at::randn({32, 32}));
  const std::string without = onnxOf("net", {engine}, /*has_weights=*/false);
  const std::string with = onnxOf("net", {engine}, /*has_weights=*/true);
  EXPECT_LT(without.size(), 1024);
  EXPECT_GT(with.size(), 4096);
  EXPECT_THAT(without, ::testing::HasSubstr("matrix_multiply"));
}

}  // namespace
}  // namespace torchtrt::runtime
