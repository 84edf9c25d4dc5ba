// Fences in front of convolutions whose library reads operands before the work in front has ended.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "builder/run.h"
#include "cuda/counted_driver.h"
#include "engine/schedule/optimum.h"
#include "support/interpreter.h"
#include "torchtrt/network.h"

namespace torchtrt::cuda::testing {
namespace {

constexpr const char* kFence = ", behind a fence";

std::string filter(const std::string& name, int factor) {
  std::string data;
  for (int i = 0; i < 8 * 8; ++i) {
    data += (i == 0 ? "" : ", ") + std::to_string((i * factor % 11 - 5) / 16.0);
  }
  return "  %" + name + " = constant() {} : float32[8, 8, 1, 1] data=[" + data + "]\n";
}

std::string convolution(const std::string& result, const std::string& operand, const std::string& weights) {
  return "  %" + result + " = convolution(%" + operand + ", %" + weights + ") {stride=[1, 1]}\n";
}

std::string relu(const std::string& result, const std::string& operand) {
  return "  %" + result + " = activation(%" + operand + ") {op=\"relu\"}\n";
}

std::string sum(const std::string& result, const std::string& a, const std::string& b) {
  return "  %" + result + " = elementwise(%" + a + ", %" + b + ") {op=\"sum\"}\n";
}

network::Weights image(int64_t size, int factor) {
  void* memory = nullptr;
  network::Weights image = network::Weights::allocate(DType::kFloat32, {1, 8, size, size}, &memory);
  for (int i = 0; i < 8 * size * size; ++i) {
    static_cast<float*>(memory)[i] = static_cast<float>(i * factor % 13 - 6) / 8;
  }
  return image;
}

struct Fences {
  std::string actions;  // "reformat; b; fence, c"
  int filled = 0;       // bytes that the driver fills in one call
};

// Convolves images of size x size by filters of one tap. Compares results with the interpreter's.
Fences fencesOf(const std::string& layers, const std::string& result, int64_t size = 5) {
  const std::string type = " : float32[1, 8, " + std::to_string(size) + ", " + std::to_string(size) + "]\n";
  const std::string text = "network \"n\" () {\n  input %x" + type + "  input %r" + type + filter("u", 3) +
                           filter("v", 5) + filter("w", 7) + layers + "  output \"y\" %" + result + "\n}";
  const auto network = network::parse(text);
  const std::vector<network::Weights> inputs = {image(size, 5), image(size, 7)};
  const auto expected = torchtrt::testing::interpretIfPossible(*network, inputs);
  // Loading would record the call, whose replay fills nothing.
  const auto engine = builder::loadPlan(builder::optimizeAndBuild(*network), {.prepare = false});
  const CountedDriver counted;
  const std::vector<network::Weights> got = builder::runEngine(*engine, inputs);
  EXPECT_TRUE(expected.has_value() && torchtrt::testing::agree(got.at(0), expected->at(0))) << text;
  Fences fences;
  fences.filled = counted.counts().filled;
  std::istringstream schedule(engine::scheduleAtOptimum(*engine));
  for (std::string line; std::getline(schedule, line);) {
    std::istringstream words(line);
    std::string number, family, name;
    if (line.starts_with("  ") && words >> number >> family >> name) {
      name = family == "reformat" ? family : name.substr(1, name.size() - 2);
      fences.actions += (fences.actions.empty() ? "" : "; ") + (line.ends_with(kFence) ? "fence, " + name : name);
    }
  }
  return fences;
}

TEST(Fences, StandBeforeAResidualOfTheActionInFront) {
  const Fences fences = fencesOf(convolution("a", "x", "u") + relu("b", "a") + convolution("c", "b", "v") +
                                     relu("d", "c") + convolution("e", "b", "w") + sum("f", "e", "d"),
                                 "f");
  EXPECT_EQ(fences.actions, "reformat; b; d; fence, f; reformat");
  EXPECT_EQ(fences.filled, 1);
}

TEST(Fences, AreAvoidedByComputingTheResidualEarlier) {
  const Fences fences = fencesOf(convolution("a", "x", "u") + relu("b", "a") + convolution("c", "x", "v") +
                                     convolution("d", "b", "w") + sum("e", "d", "c"),
                                 "e");
  EXPECT_EQ(fences.actions, "reformat; c; b; e; reformat");
  EXPECT_EQ(fences.filled, 0);
}

TEST(Fences, AreNotMovedToAnotherAction) {
  // Earlier, c would stand in front of b, which reads its result ahead, too.
  const Fences fences = fencesOf(convolution("c", "x", "v") + convolution("a", "x", "u") + sum("b", "a", "c") +
                                     convolution("d", "b", "w") + sum("e", "d", "c"),
                                 "e");
  EXPECT_EQ(fences.actions, "reformat; c; fence, b; e; reformat");
  EXPECT_EQ(fences.filled, 1);
}

TEST(Fences, AreNotNeededForAnOlderResidual) {
  const Fences fences = fencesOf(convolution("c", "x", "v") + convolution("a", "x", "u") + relu("b", "a") +
                                     convolution("d", "b", "w") + sum("e", "d", "c"),
                                 "e");
  EXPECT_EQ(fences.actions, "reformat; c; b; e; reformat");
  EXPECT_EQ(fences.filled, 0);
}

TEST(Fences, AreNotNeededForTheConvolvedOperand) {
  const Fences fences = fencesOf(convolution("a", "x", "u") + relu("b", "a") + convolution("d", "b", "w"), "d");
  EXPECT_EQ(fences.actions, "reformat; b; d; reformat");
  EXPECT_EQ(fences.filled, 0);
}

// Images of one place need no reorder.
TEST(Fences, StandBeforeAResidualThatTheCallerMayStillWrite) {
  const Fences fences = fencesOf(convolution("a", "x", "u") + sum("b", "a", "r"), "b", 1);
  EXPECT_EQ(fences.actions, "fence, b");
  EXPECT_EQ(fences.filled, 1);
}

TEST(Fences, AreNotNeededForAnInputBehindAnAction) {
  const Fences fences =
      fencesOf(convolution("a", "x", "u") + relu("b", "a") + convolution("c", "b", "w") + sum("d", "c", "r"), "d", 1);
  EXPECT_EQ(fences.actions, "b; d");
  EXPECT_EQ(fences.filled, 0);
}

}  // namespace
}  // namespace torchtrt::cuda::testing
