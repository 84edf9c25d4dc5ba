// Dynamic dimensions of which an engine takes one size alone, as where a trace wrote the size down that its example
// had.
#pragma once

#include <string>
#include <vector>

#include "compiler/inputs/input_specs.h"
#include "plan/plan.h"

namespace torchtrt::compiler {

struct OnlySize {
  std::string symbol;
  int64_t size;
  std::string reason;  // why another one does not fit
};

// Returns the symbols of inputs that fit the plan's steps at their optimum alone, as far as the ends of the range and
// the sizes next to the optimum show.
std::vector<OnlySize> onlySizes(const plan::Plan& plan, const InputLeaves& leaves);

// A warning, once for every symbol.
void tellOfOnlySizes(const std::vector<OnlySize>& sizes, const InputLeaves& leaves, const std::string& what);

}  // namespace torchtrt::compiler
