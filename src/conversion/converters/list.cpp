#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {

void addAll(NodeConverterRegistry& registry) {
  addActivations(registry);
  addUnaries(registry);
  addElementwise(registry);
  addConvolutions(registry);
  addMatrixMultiplies(registry);
  addNormalizations(registry);
  addPoolings(registry);
  addReductions(registry);
  addShuffles(registry);
  addSelections(registry);
  addCombinations(registry);
  addPaddings(registry);
  addResizes(registry);
  addCasts(registry);
  addFills(registry);
  addAttention(registry);
}

}  // namespace torchtrt::conversion::converters
