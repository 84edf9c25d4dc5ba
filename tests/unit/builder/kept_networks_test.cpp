// Networks that fuzzers found, cut down by hand.
#include <gtest/gtest.h>

#include <string>

#include "support/network_trial.h"
#include "torchtrt/network.h"

namespace torchtrt::builder {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

// 1 + erf(x / sqrt(2)) near 0 has few bits left.
TEST(KeptNetworks, OfGeluFarBelowZero) {
  const auto network = network::parse(R"(network "tail" (n in [1, 2, 4]) {
  input %image : float32[n, 65, 1, 64]
  input %vector : float32[n, 127]
  %logs = softmax(%vector) {axis=1, log=true}
  %y = activation(%logs) {op="gelu_erf"}
  output "y" %y
})");
  EXPECT_EQ(testing::compareWithInterpreter(*network, 36006071), "");
}

// The sum of squares overflows in float32, as in PyTorch. The reference adds in float64.
TEST(KeptNetworks, OfRowsWhoseSquaresOverflow) {
  const auto network = network::parse(R"(network "large" () {
  input %vector : float32[1, 3]
  %padded = padding(%vector) {mode="constant", value=1e+30, pre=[0, 0], post=[0, 2]}
  %scale = fill() {op="constant", dims=[5], dtype=float32, value=0.5}
  %y = normalization(%padded, %scale) {eps=0.0625, mode="rms"}
  output "y" %y
})");
  EXPECT_EQ(testing::compareKernels(*network, kMostBytes), "");
}

}  // namespace
}  // namespace torchtrt::builder
