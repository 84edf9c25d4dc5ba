// Network -> text.
#include <algorithm>

#include "base/hash.h"
#include "network/attribute_spec.h"
#include "network/network_impl.h"
#include "network/text/notation.h"
#include "network/text/numbers.h"

namespace torchtrt::network {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (const auto code = static_cast<unsigned char>(c); code < 32 || code == 127) {
      result += "\\x";
      result += kDigits[code >> 4];
      result += kDigits[code & 15];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string contentHash(const Weights& weights) {
  return hashBytes(weights.data.get(), weights.bytes()).toString();
}

namespace {

std::string nameText(const Tensor* tensor) {
  if (tensor == nullptr) {
    return "null";
  }
  const std::string& name = tensor->getName();
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), isNameCharacter);
  return "%" + (bare ? name : quoted(name));
}

template <typename List, typename ToText>
std::string listText(const List& list, ToText to_text) {
  std::string text;
  for (const auto& item : list) {
    text += (text.empty() ? "" : ", ") + to_text(item);
  }
  return text;
}

std::string orderText(const Tensor& tensor, const PrintOptions& options) {
  if (!options.memory_orders || tensor.memoryOrder().empty()) {
    return "";
  }
  return " order=[" + listText(tensor.memoryOrder(), [](uint8_t axis) { return std::to_string(axis); }) + "]";
}

std::string typeText(const Tensor& tensor, const PrintOptions& options) {
  try {
    return toString(tensor.getType()) + tensor.getDimensions().toString() + orderText(tensor, options);
  } catch (const CompileError&) {
    return "?";  // malformed networks are printed too: that is when one wants to see them
  }
}

// Lists carry their type's name where the reader could not know it.
std::string valueText(const AttributeValue& value, const std::string& declared) {
  struct Visitor {
    const std::string& declared;
    std::string prefix(const char* type) const {
      const bool known =
          declared == type || (declared != "dims" && declared != "doubles" && std::string(type) == "ints");
      return known ? "" : type;
    }
    std::string operator()(bool value) const {
      return value ? "true" : "false";
    }
    std::string operator()(int64_t value) const {
      return std::to_string(value);
    }
    std::string operator()(double value) const {
      return doubleText(value);
    }
    std::string operator()(const std::string& value) const {
      return quoted(value);
    }
    std::string operator()(DType value) const {
      return toString(value);
    }
    std::string operator()(const std::vector<int64_t>& value) const {
      return prefix("ints") + Dims::of(value).toString();
    }
    std::string operator()(const std::vector<double>& value) const {
      return prefix("doubles") + "[" + listText(value, doubleText) + "]";
    }
    std::string operator()(const Dims& value) const {
      return prefix("dims") + value.toString();
    }
  };
  return std::visit(Visitor{declared}, value);
}

// Returns the text of the attributes that differ from their defaults.
std::string attributesText(const Layer& layer) {
  const AttributeSpecs& specs = attributeSpecs(layer.getType());
  std::string text;
  for (const auto& [name, value] : layer.attributes().values()) {
    const AttributeSpec* spec = specs.find(name);
    if (spec != nullptr && spec->fallback && *spec->fallback == value) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + name + "=" + valueText(value, spec == nullptr ? "" : spec->type);
  }
  return text;
}

std::string dataText(const Weights& weights) {
  if (weights.count() > kInlineElements) {
    return " data=@" + contentHash(weights);
  }
  std::string text;
  const auto* element = weights.as<unsigned char>();
  for (size_t i = 0; i < weights.count(); ++i, element += sizeOf(weights.dtype)) {
    text += (i == 0 ? "" : ", ") + elementText(weights.dtype, element);
  }
  return " data=[" + text + "]";
}

std::string layerText(const Layer& layer, const PrintOptions& options) {
  std::string names;
  std::string types;
  for (int i = 0; i < layer.getNbOutputs(); ++i) {
    names += (i == 0 ? "" : ", ") + nameText(layer.getOutput(i));
    types += (i == 0 ? "" : ", ") + typeText(*layer.getOutput(i), options);
  }
  std::string operands;
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    operands += (i == 0 ? "" : ", ") + nameText(layer.getInput(i));
  }
  std::string text =
      names + " = " + layer.info().name + "(" + operands + ") {" + attributesText(layer) + "} : " + types;
  if (const Weights* weights = layer.weights()) {
    text += dataText(*weights);
  }
  if (layer.getOutput(0)->getName() != defaultOutputName(layer.getName(), 0, layer.getNbOutputs())) {
    text += " name=" + quoted(layer.getName());
  }
  if (options.locations && !layer.location().empty()) {
    text += "  # " + toString(layer.location());
  }
  return text;
}

}  // namespace

std::string print(const Network& network, const PrintOptions& options) {
  std::string text = "network " + quoted(network.name()) + " (" +
                     listText(network.symbols(),
                              [](const Symbol& symbol) {
                                return symbol.name + " in " + Dims{symbol.min, symbol.opt, symbol.max}.toString();
                              }) +
                     ") {\n";
  for (int i = 0; i < network.getNbInputs(); ++i) {
    const Tensor* input = network.getInput(i);
    text += "  input " + nameText(input) + " : " + typeText(*input, options) + "\n";
  }
  for (const Layer* layer : network.layers()) {
    text += "  " + layerText(*layer, options) + "\n";
  }
  for (int i = 0; i < network.getNbOutputs(); ++i) {
    text += "  output " + quoted(network.getOutputName(i)) + " " + nameText(network.getOutput(i)) + "\n";
  }
  return text + "}\n";
}

WeightStore collectWeights(const Network& network) {
  WeightStore store;
  for (const Layer* layer : network.layers()) {
    if (const Weights* weights = layer->weights(); weights != nullptr && weights->count() > kInlineElements) {
      store.emplace(contentHash(*weights), *weights);
    }
  }
  return store;
}

}  // namespace torchtrt::network
