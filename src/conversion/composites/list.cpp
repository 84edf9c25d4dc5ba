#include "conversion/composites/composite.h"

namespace torchtrt::conversion::composites {

void addAll(NodeConverterRegistry& registry) {
  addAliases(registry);
  addArithmetic(registry);
  addRearrangements(registry);
  addIndexing(registry);
  addProducts(registry);
  addStatistics(registry);
  addLosses(registry);
  addNetworks(registry);
  addQuantization(registry);
}

}  // namespace torchtrt::conversion::composites
