// Recurrent layers on the device with more samples and elements than the CPU's cases have: against steps in double.
#include <gtest/gtest.h>

#include <cmath>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr int64_t kSteps = 3, kBatch = 3, kSize = 5;

struct Operands {
  Values x, weights, bias, state, cell;
};

// Values near zero, so that no gate is at its limit.
Values smallValues(int64_t count, uint32_t seed) {
  Values values = mixedValues(count, DType::kFloat16, seed);
  for (double& value : values) {
    value /= 8;
  }
  return values;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

struct Step {
  double h, c;
};

// Computes a time step from what the input and the state give each gate.
Step stepOf(const std::string& op, const Values& x, const Values& s, double h, double c) {
  if (op == "lstm") {
    const double next = sigmoid(x[1] + s[1]) * c + sigmoid(x[0] + s[0]) * std::tanh(x[2] + s[2]);
    return {sigmoid(x[3] + s[3]) * std::tanh(next), next};
  }
  if (op == "gru") {
    const double kept = sigmoid(x[1] + s[1]), fresh = std::tanh(x[2] + sigmoid(x[0] + s[0]) * s[2]);
    return {(h - fresh) * kept + fresh, 0};
  }
  return {op == "rnn_tanh" ? std::tanh(x[0] + s[0]) : std::max(0.0, x[0] + s[0]), 0};
}

// All states by step, the last state and the last cell.
std::vector<Values> expectedOf(const std::string& op, int64_t gates, bool reverse, const Operands& of) {
  Values all(static_cast<size_t>(kSteps * kBatch * kSize)), state = of.state, cell = of.cell;
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t t = reverse ? kSteps - 1 - step : step;
    const Values before = state;
    for (int64_t i = 0; i < kBatch * kSize; ++i) {
      const int64_t n = i / kSize, j = i % kSize;
      Values x, s;
      for (int64_t row = j; row < gates * kSize; row += kSize) {
        x.push_back(of.x[static_cast<size_t>((t * kBatch + n) * gates * kSize + row)]);
        s.push_back(of.bias[static_cast<size_t>(row)]);
        for (int64_t k = 0; k < kSize; ++k) {
          s.back() += before[static_cast<size_t>(n * kSize + k)] * of.weights[static_cast<size_t>(row * kSize + k)];
        }
      }
      const auto at = static_cast<size_t>(i);
      const Step next = stepOf(op, x, s, before[at], cell[at]);
      state[at] = all[static_cast<size_t>(t * kBatch * kSize + i)] = next.h;
      cell[at] = next.c;
    }
  }
  return op == "lstm" ? std::vector<Values>{all, state, cell} : std::vector<Values>{all, state};
}

TEST(Recurrent, TakesManySamplesAndElements) {
  for (const auto& [op, gates] :
       {std::pair<std::string, int64_t>{"lstm", 4}, {"gru", 3}, {"rnn_tanh", 1}, {"rnn_relu", 1}}) {
    const int64_t rows = gates * kSize;
    const Operands of = {smallValues(kSteps * kBatch * rows, 1), smallValues(rows * kSize, 2), smallValues(rows, 3),
                         smallValues(kBatch * kSize, 4), smallValues(kBatch * kSize, 5)};
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (const bool reverse : {false, true}) {
        Case layer = {"recurrent",
                      makeAttributes({{"op", op}, {"reverse", reverse}}),
                      {makeTensor(dtype, {kSteps, kBatch, rows}, of.x), makeTensor(dtype, {rows, kSize}, of.weights),
                       makeTensor(dtype, {rows}, of.bias), makeTensor(dtype, {kBatch, kSize}, of.state)},
                      {{dtype, {kSteps, kBatch, kSize}}, {dtype, {kBatch, kSize}}}};
        if (op == "lstm") {
          layer.inputs.push_back(makeTensor(dtype, {kBatch, kSize}, of.cell));
          layer.outputs.push_back({dtype, {kBatch, kSize}});
        }
        expectOutputs(layer, expectedOf(op, gates, reverse, of));
      }
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
