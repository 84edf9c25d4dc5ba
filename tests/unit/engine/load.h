// Makes and loads hand-made plans for the tests of this folder.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/calls/loaded_engine.h"
#include "support/engine_call.h"
#include "support/plan_maker.h"

namespace torchtrt::engine {

inline const std::vector<uint8_t> kChannelsLast = {0, 2, 3, 1};

// Returns numbers in [-1, 1).
inline std::vector<float> randomFloats(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    value = std::uniform_real_distribution<float>(-1, 1)(generator);
  }
  return values;
}

// Inputs and outputs of plans are row-major.
inline int32_t reorder(testing::PlanMaker& make, int32_t tensor, const std::vector<uint8_t>& order) {
  const int32_t output = make.step("reformat", {tensor}, make.at(tensor).dims);
  make.at(output).order = order;
  return output;
}
inline void addOutput(testing::PlanMaker& make, const std::string& name, int32_t tensor) {
  make.output(name, reorder(make, tensor, {}));
}

inline std::shared_ptr<const LoadedEngine> loadBytes(const std::string& bytes, const LoadOptions& options = {},
                                                     const device::Device& device = testing::testDevice()) {
  return loadOn(device, testing::bytesOf(bytes), nullptr, {}, options);
}

inline std::shared_ptr<const LoadedEngine> loadMade(testing::PlanMaker& make, const LoadOptions& options = {},
                                                    const device::Device& device = testing::testDevice()) {
  return loadBytes(plan::serialize(make.plan()), options, device);
}

// y = relu(x + w) for a batch of 0 to 8 rows of 3.
inline std::shared_ptr<const LoadedEngine> smallEngine(const LoadOptions& options = {}) {
  testing::PlanMaker make("small");
  const plan::Register n = make.symbol("n", 0, 4, 8);
  const int32_t x = make.input("x", {n, make.number(3)});
  const int32_t sum = make.elementwise("sum", x, make.floats("w", {3}, {1, -2, 3}));
  make.output("y", make.activation("relu", sum));
  return loadMade(make, options);
}

}  // namespace torchtrt::engine
