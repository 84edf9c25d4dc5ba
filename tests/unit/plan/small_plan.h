// The plan that the tests of this folder damage: y = relu(x + w), z = a view of y, for a dynamic batch.
#pragma once

#include "plan/families.h"
#include "support/plan_maker.h"

namespace torchtrt::plan {

inline Plan smallPlan() {
  testing::PlanMaker make("small");
  const Register n = make.symbol("n", 1, 4, 8);
  const Register three = make.number(3);
  const Register flat = make.emit({Op::kMul, three, n, 0});
  const int32_t x = make.input("x", {n, three});
  const int32_t w = make.floats("w", {3}, {1, 2, 3});
  const int32_t sum = make.elementwise("sum", x, w);
  make.lastStep().location = {"model.py", 12, 4, "forward", "head"};
  const int32_t y = make.activation("relu", sum);
  const int32_t z = make.view("z", y, {flat});
  make.output("y", y);
  make.output("z", z);
  make.plan().options = {{"precision", "float32"}};
  fillDefaults(make.plan());
  return make.plan();
}

}  // namespace torchtrt::plan
