// The sizes that dynamic dimensions have in example runs, so that it shows which size follows from which.
#pragma once

#include <vector>

#include "compiler/inputs/input_specs.h"
#include "compiler/inputs/size_guesses.h"
#include "compiler/inputs/size_relations.h"

namespace torchtrt::compiler {

RunSizes optimumSizes(const InputLeaves& leaves);

// Returns the sizes of further runs. In the first, every symbol has another size near its optimum, a prime if there is
// one. In the others they are far from it, larger or smaller, so that every two symbols differ in one of them. Sizes
// that are divisible by a power of two stay so as far as possible.
std::vector<RunSizes> otherSizes(const InputLeaves& leaves);

// One size for all symbols, or what is nearest to it in their ranges.
RunSizes commonSizes(const InputLeaves& leaves);

// Symbols of one range whose sizes, unlike, are among those with which a run failed.
SizePairs pairsIn(const InputLeaves& leaves, const RunSizes& run, const std::vector<int64_t>& failed);

}  // namespace torchtrt::compiler
