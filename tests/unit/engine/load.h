// Loads hand-made plans for the tests of this folder.
#pragma once

#include <memory>
#include <string>

#include "engine/loaded_engine.h"
#include "support/engine_call.h"
#include "support/plan_maker.h"

namespace torchtrt::engine {

inline std::shared_ptr<const LoadedEngine> loadBytes(const std::string& bytes, const LoadOptions& options = {},
                                                     const device::Device& device = device::cpu()) {
  return loadOn(device, testing::bytesOf(bytes), nullptr, {}, options);
}

inline std::shared_ptr<const LoadedEngine> loadMade(testing::PlanMaker& make, const LoadOptions& options = {},
                                                    const device::Device& device = device::cpu()) {
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
