#include "network/undecided.h"

#include "network/layer_context.h"
#include "network/rules/rules.h"

namespace torchtrt::network {

std::optional<std::pair<Dim, Dim>> undecidedDims(const Network& network) {
  const std::vector<Layer*> layers = network.layers();
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const LayerContext context(**layer);
    try {
      checkRules(context);
    } catch (const CompileError&) {
      if (context.undecided()) {
        return context.undecided();
      }
    }
  }
  return std::nullopt;
}

}  // namespace torchtrt::network
