// Reads the attribute column of layer_table.def for networks; parser, printer, verifier and the completion of missing
// attributes use it. plan/families.h reads the same column for plans. The words that `op` takes stand in the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::network {

struct AttributeSpec {
  std::string name;
  std::string type;                  // "bool", "int", "double", "string", "dtype", "ints", "doubles", "dims"
  std::vector<std::string> choices;  // of a string; empty: any
  std::optional<AttributeValue> fallback;
  bool optional = false;  // may be absent although it has no default
};

struct AttributeSpecs {
  std::vector<AttributeSpec> list;  // in the table's order
  bool open = false;                // any further attribute is allowed (fields of a plugin)

  const AttributeSpec* find(const std::string& name) const;
};

const AttributeSpecs& attributeSpecs(LayerType type);

const char* attributeTypeName(const AttributeValue& value);  // the words of AttributeSpec::type

// A whole number where the table wants a double, and numbers where it wants dims, in the table's type; others as they
// are.
AttributeValue toDeclaredType(LayerType type, const std::string& name, AttributeValue value);

// Gives what is there its declared type, and adds defaults for what is missing: the table's, and for windows what
// PyTorch takes (stride 1, padding 0, dilation 1; the stride of a pooling is its window).
void completeAttributes(LayerType type, const std::vector<Tensor*>& inputs, Attributes& attributes);

}  // namespace torchtrt::network
