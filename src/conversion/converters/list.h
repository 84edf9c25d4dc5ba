// The one list of built-in converters: each family has an add... function, in a file of its own.
#pragma once

#include "torchtrt/conversion.h"

namespace torchtrt::conversion::converters {

void addActivations(NodeConverterRegistry& registry);
void addUnaries(NodeConverterRegistry& registry);
void addElementwise(NodeConverterRegistry& registry);
void addConvolutions(NodeConverterRegistry& registry);
void addMatrixMultiplies(NodeConverterRegistry& registry);
void addIntegerWeights(NodeConverterRegistry& registry);
void addNormalizations(NodeConverterRegistry& registry);
void addPoolings(NodeConverterRegistry& registry);
void addReductions(NodeConverterRegistry& registry);
void addShuffles(NodeConverterRegistry& registry);
void addSelections(NodeConverterRegistry& registry);
void addScatters(NodeConverterRegistry& registry);
void addSearches(NodeConverterRegistry& registry);
void addCumulatives(NodeConverterRegistry& registry);
void addEinsum(NodeConverterRegistry& registry);
void addRecurrences(NodeConverterRegistry& registry);
void addSamplings(NodeConverterRegistry& registry);
void addRegions(NodeConverterRegistry& registry);
void addCounted(NodeConverterRegistry& registry);
void addCombinations(NodeConverterRegistry& registry);
void addPaddings(NodeConverterRegistry& registry);
void addResizes(NodeConverterRegistry& registry);
void addCasts(NodeConverterRegistry& registry);
void addFills(NodeConverterRegistry& registry);
void addAttention(NodeConverterRegistry& registry);
void addFouriers(NodeConverterRegistry& registry);
void addComplexNumbers(NodeConverterRegistry& registry);

void addAll(NodeConverterRegistry& registry);  // all of the above, and those written in TorchScript

}  // namespace torchtrt::conversion::converters
