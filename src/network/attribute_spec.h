// The attributes of each kind of layer, as layer_table.def declares them: parser, printer, verifier and the completion
// of missing attributes use it.
#pragma once

#include <string>
#include <vector>

#include "base/layer_spec.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

const AttributeSpecs& attributeSpecs(LayerType type);

// A whole number where the table wants a double, and numbers where it wants dims, in the table's type; others as they
// are.
AttributeValue toDeclaredType(LayerType type, const std::string& name, AttributeValue value);

// Gives what is there its declared type, and adds defaults for what is missing: the table's, and for windows what
// PyTorch takes (stride 1, padding 0, dilation 1; the stride of a pooling is its window).
void completeAttributes(LayerType type, const std::vector<Tensor*>& inputs, Attributes& attributes);

}  // namespace torchtrt::network
