#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

bool removeDeadLayers(Network& network) {
  Rewriter rewriter(network);
  bool changed = false;
  std::vector<Layer*> layers = network.layers();
  // Users before their producers, so that one sweep finds whole dead chains.
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (Rewriter::isDead(**layer)) {
      rewriter.removeLayer(**layer);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

PassPtr createRemoveDeadLayers(const Options&) {
  return std::make_unique<FunctionPass>("remove_dead_layers", removeDeadLayers);
}

}  // namespace torchtrt::optimization
