// A network of six steps, and what the CPU computes by it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/load.h"

namespace torchtrt::cuda::testing {

using torchtrt::testing::HostTensor;
using torchtrt::testing::PlanMaker;

// z = relu(x + w), y = tanh(z m) * 2 + x: six steps, of which the first three and the last see the caller's memory.
inline PlanMaker network() {
  PlanMaker make("net");
  const plan::Register n = make.symbol("n", 1, 4, 64);
  const PlanMaker::Registers dims = {n, make.number(3)};
  const int32_t x = make.input("x", dims);
  const int32_t z = make.activation("relu", make.elementwise("sum", x, make.floats("w", {3}, {1, -2, 3})));
  const int32_t product =
      make.step("matrix_multiply", {z, make.floats("m", {3, 3}, {0.5F, 0, 0.25F, 0, 1, 0, -0.5F, 0, 1})}, dims);
  const int32_t twice = make.elementwise("prod", make.activation("tanh", product), make.floats("t", {1}, {2}));
  make.output("z", z);
  make.output("y", make.elementwise("sum", twice, x));
  return make;
}

// Without the calls on zeros that loading makes on a GPU, so that tests may count calls.
inline std::shared_ptr<const engine::LoadedEngine> load(const device::Device& device,
                                                        engine::LoadOptions options = {}) {
  options.prepare = false;
  options.disabled_fusions = {"pointwise_group"};  // so that each step is a launch
  PlanMaker make = network();
  return engine::loadMade(make, options, device);
}

inline HostTensor tensorOf(int64_t rows, unsigned seed) {
  return {{rows, 3}, engine::randomFloats(rows * 3, seed)};
}

inline void expectEqual(const std::vector<std::vector<float>>& got, const HostTensor& input) {
  static const auto engine = load(device::cpu());
  const auto expected = torchtrt::testing::callEngine(*engine, {input});
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::vector<float> values = expected[i].values();
    ASSERT_EQ(got[i].size(), values.size());
    for (size_t k = 0; k < values.size(); ++k) {
      ASSERT_NEAR(got[i][k], values[k], 1e-5) << "output " << i << ", element " << k;
    }
  }
}

}  // namespace torchtrt::cuda::testing
