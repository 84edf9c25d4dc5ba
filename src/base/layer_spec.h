// The attribute column of layer_table.def, read in one place: the rules of networks and the reader of plans both ask
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt {

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

  TORCHTRT_API const AttributeSpec* find(const std::string& name) const;
};

// "name:type name:type(one|other)=one name:type? + fused"
TORCHTRT_API AttributeSpecs parseAttributeSpecs(const std::string& notation);

TORCHTRT_API const char* attributeTypeName(const AttributeValue& value);  // the words of AttributeSpec::type

}  // namespace torchtrt
