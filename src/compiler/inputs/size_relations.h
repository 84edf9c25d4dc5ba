// Finds how an observed size follows from the sizes of inputs, by what example runs show of both. It is a guess:
// engines check it in every call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchtrt/types.h"

namespace torchtrt::compiler {

using RunSizes = std::map<std::string, int64_t>;  // of the symbols, in a run

// s, k*s + c or k*s*t, from one entry per run for each. Nothing where no such dim fits every run, where several symbols
// do alike, or where the runs are too few to tell: k and c take a run each, and one more has to agree.
std::optional<Dim> relationOf(const std::vector<int64_t>& sizes, const std::vector<RunSizes>& symbols);

}  // namespace torchtrt::compiler
