// An engine made by hand: y = relu(x + w) for x of float32[n, 3] with 1 <= n <= 8, w = [1, 2, 3].
#pragma once

#include "plan/families.h"
#include "runtime/engine_class.h"
#include "support/plan_maker.h"

namespace torchtrt::runtime {

inline plan::Plan smallPlan() {
  testing::PlanMaker make("small");
  const plan::Register n = make.symbol("n", 1, 4, 8);
  const plan::Register three = make.number(3);
  const int32_t x = make.input("x", {n, three});
  const int32_t w = make.floats("w", {3}, {1, 2, 3});
  make.output("y", make.activation("relu", make.elementwise("sum", x, w)));
  plan::fillDefaults(make.plan());
  return make.plan();
}

inline c10::intrusive_ptr<Engine> smallEngine() {
  return Engine::fromPlan(smallPlan());
}

// Returns the engine's answer, computed by PyTorch.
inline at::Tensor smallAnswer(const at::Tensor& x) {
  return at::relu(x + at::tensor({1.0F, 2.0F, 3.0F}));
}

// y = x * w for x of four rows. Its kernel packs w, which is let go.
inline plan::Plan productPlan(const at::Tensor& w) {
  testing::PlanMaker make("product");
  const std::vector<float> values(w.const_data_ptr<float>(), w.const_data_ptr<float>() + w.numel());
  const int32_t x = make.input("x", make.dims({4, w.size(0)}));
  make.output("y",
              make.step("matrix_multiply", {x, make.floats("w", w.sizes().vec(), values)}, make.dims({4, w.size(1)})));
  plan::fillDefaults(make.plan());
  return make.plan();
}

inline c10::intrusive_ptr<Engine> productEngine(const at::Tensor& w) {
  return Engine::fromPlan(productPlan(w));
}

}  // namespace torchtrt::runtime
