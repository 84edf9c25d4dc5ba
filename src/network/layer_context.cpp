#include "network/layer_context.h"

#include <limits>

namespace torchtrt::network {

const torchtrt::Dims* LayerContext::findDims(std::string_view attribute) const {
  const AttributeValue* const value = attributes().find(attribute);
  return value == nullptr ? nullptr : std::get_if<torchtrt::Dims>(value);
}

std::pair<int64_t, int64_t> LayerContext::range(const Dim& dim) const {
  return dim.range([this](const std::string& name) {
    const Symbol* symbol = layer_.network()->findSymbol(name);
    return symbol != nullptr ? *symbol : Symbol{name, 0, 1, std::numeric_limits<int64_t>::max()};
  });
}

}  // namespace torchtrt::network
