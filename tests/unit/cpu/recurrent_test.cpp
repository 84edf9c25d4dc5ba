#include <gtest/gtest.h>

#include <cmath>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// One sample, one hidden element: [T,1,G] with weights [G,1].
Case recurrent(const char* op, DType dtype, const Values& input, int64_t gates, const Values& weights, double state,
               bool reverse) {
  const auto steps = static_cast<int64_t>(input.size()) / gates;
  const bool lstm = std::string(op) == "lstm";
  std::vector<std::optional<Tensor>> inputs = {makeTensor(dtype, {steps, 1, gates}, input),
                                               makeTensor(dtype, {gates, 1}, weights), std::nullopt,
                                               makeTensor(dtype, {1, 1}, {state})};
  std::vector<Output> outputs = {{dtype, {steps, 1, 1}}, {dtype, {1, 1}}};
  if (lstm) {
    inputs.push_back(makeTensor(dtype, {1, 1}, {2 * state}));
    outputs.push_back({dtype, {1, 1}});
  }
  return {"recurrent", makeAttributes({{"op", std::string(op)}, {"reverse", reverse}}), std::move(inputs), outputs};
}

TEST(Recurrent, PlainNetworksGoBothWays) {
  for (const DType dtype : kFloatingDTypes) {
    expectOutputs(recurrent("rnn_relu", dtype, {1, 2, -9}, 1, {2}, 0.5, false), {{2, 6, 3}, {3}});
    expectOutputs(recurrent("rnn_relu", dtype, {1, 2, -9}, 1, {2}, 0.5, true), {{5, 2, 0}, {5}});
  }
  expectOutputs(recurrent("rnn_tanh", DType::kFloat64, {1}, 1, {2}, 0.5, false), {{std::tanh(2)}, {std::tanh(2)}});
}

TEST(Recurrent, LstmHasItsGatesInPyTorchsOrder) {
  const double c = sigmoid(2) * 1.0 + sigmoid(1) * std::tanh(3), h = sigmoid(4) * std::tanh(c);
  expectOutputs(recurrent("lstm", DType::kFloat64, {1, 2, 3, 4}, 4, {0, 0, 0, 0}, 0.5, false), {{h}, {h}, {c}});
}

TEST(Recurrent, GruResetsBeforeTheNewGate) {
  const double reset = sigmoid(1 + 0.5), kept = sigmoid(2 + 1), fresh = std::tanh(3 + reset * 1.5);
  const double h = (0.5 - fresh) * kept + fresh;
  expectOutputs(recurrent("gru", DType::kFloat64, {1, 2, 3}, 3, {1, 2, 3}, 0.5, false), {{h}, {h}});
}

TEST(Recurrent, WithoutStepsTheStateStays) {
  expectOutputs(recurrent("rnn_tanh", DType::kFloat32, {}, 1, {2}, 0.5, false), {{}, {0.5}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
