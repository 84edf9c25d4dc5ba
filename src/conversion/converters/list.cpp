#include "conversion/converters/list.h"

#include "conversion/composites/composite.h"

namespace torchtrt::conversion::converters {

void addAll(NodeConverterRegistry& registry) {
  addActivations(registry);
  addUnaries(registry);
  addElementwise(registry);
  addConvolutions(registry);
  addMatrixMultiplies(registry);
  addIntegerWeights(registry);
  addNormalizations(registry);
  addPoolings(registry);
  addReductions(registry);
  addShuffles(registry);
  addSelections(registry);
  addScatters(registry);
  addSearches(registry);
  addCumulatives(registry);
  addEinsum(registry);
  addRecurrences(registry);
  addSamplings(registry);
  addRegions(registry);
  addCounted(registry);
  addCombinations(registry);
  addPaddings(registry);
  addResizes(registry);
  addCasts(registry);
  addFills(registry);
  addAttention(registry);
  addFouriers(registry);
  addComplexNumbers(registry);
  composites::addAll(registry);
}

}  // namespace torchtrt::conversion::converters
