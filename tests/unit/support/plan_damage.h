// Changes plans as an attacker could, into well-formed ones: other attributes, memory orders, dims, operands and
// arithmetic, in plans of every kind of layer. The results are loaded and called: the outcome has to be an
// EngineError or the answer of the reference kernels. The sanitizers see what a kernel does outside of its operands.
// See plan_mutation.h for damaged bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace torchtrt::testing {

class PlanDamager {
 public:
  PlanDamager();

  // The plan that tryOne() runs for the seed.
  plan::Plan damaged(uint64_t seed) const;

  // "" when all is well, else what happened.
  std::string tryOne(uint64_t seed);

  // Undamaged ones.
  const std::vector<plan::Plan>& plans() const {
    return plans_;
  }

  uint64_t refused() const {
    return refused_;
  }
  uint64_t answers() const {
    return answers_;
  }
  uint64_t large() const {  // plans that want more memory than a test should
    return large_;
  }

 private:
  std::vector<plan::Plan> plans_;
  uint64_t refused_ = 0, answers_ = 0, large_ = 0;
};

}  // namespace torchtrt::testing
