// Dynamic sizes of different inputs that are taken to be one size, though nobody said so: where operators only fit so,
// and both have the same range. Engines check it in every call, and PyTorch runs what it does not hold for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/inputs/input_specs.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

using SizePairs = std::vector<std::pair<std::string, std::string>>;  // of symbols

// The symbols to take for one so that the two dims are equal, each pair of the same minimum, optimum and maximum. Empty
// where no such symbols do.
SizePairs guessesFor(const InputLeaves& leaves, const Dim& a, const Dim& b);

// True if the two have the same minimum, optimum and maximum, and one size in the samples.
bool haveOneRange(const InputLeaves& leaves, const std::string& a, const std::string& b);

// Puts one of two symbols in the place of the other in all leaves, and notes why.
void takeForOne(InputLeaves& leaves, const std::string& a, const std::string& b, const std::string& reason);

// "ids, dimension 0; mask, dimension 0"
std::string placesText(const InputLeaves& leaves, const std::string& symbol);

// Returns text to paste into the Inputs: "ids: shared_dims={0: "batch"}; mask: shared_dims={0: "batch"}". It covers the
// guessed sizes, and those that `more` would have taken for one.
std::string sharedDims(const InputLeaves& leaves, const SizePairs& more = {});
// Puts what was guessed into the report, with a warning.
void addGuesses(const InputLeaves& leaves, Report& report);

}  // namespace torchtrt::compiler
