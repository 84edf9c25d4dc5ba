// Hand-made plans with outputs that show their length when they have been computed.
#pragma once

#include <string>

#include "support/plan_maker.h"

namespace torchtrt::testing {

struct Places {
  int32_t places, count;  // tensors of the plan
};

// A step of the plugin NonZero: the places of what is not zero in a tensor of n elements.
inline Places addPlaces(PlanMaker& make, int32_t x, plan::Register n) {
  Places made{};
  made.places = make.step("plugin_v2", {x}, {n, make.number(1)},
                          {{"namespace", std::string("torchtrt")},
                           {"type", std::string("NonZero")},
                           {"version", std::string("1")},
                           {"by_axis", false},
                           {"counted", std::vector<int64_t>{0}}},
                          DType::kInt64);
  made.count = make.tensor("count", {}, DType::kInt64);
  make.lastStep().outputs.push_back(made.count);
  return made;
}

}  // namespace torchtrt::testing
