// The rules that all kinds have, and the errors of broken ones.
#include "network/rules/rules.h"

#include "base/check.h"
#include "base/layer_rules/kinds.h"
#include "network/attribute_spec.h"

namespace torchtrt::network {
namespace {

using layer_rules::expectedGot;
using View = layer_rules::LayerView<Dim>;

Problem checkOperands(const View& view) {
  const LayerInfo& info = layerOf(view).info();
  const int count = view.operands();
  if (count < info.min_operands || (info.max_operands >= 0 && count > info.max_operands)) {
    const std::string most = info.max_operands < 0 ? " or more" : " to " + std::to_string(info.max_operands);
    return {expectedGot(std::to_string(info.min_operands) + most + " operands", std::to_string(count))};
  }
  for (int i = 0; i < count; ++i) {
    if (!view.has(i) && (info.max_operands < 0 || i < info.min_operands)) {
      return {expectedGot("operand " + std::to_string(i), "null")};
    }
  }
  return {};
}

Problem checkAttributesKnown(const View& view) {
  const AttributeSpecs& specs = attributeSpecs(layerOf(view).getType());
  for (const auto& [name, value] : view.attributes().values()) {
    if (!specs.open && specs.find(name) == nullptr) {
      return {expectedGot("attributes of the layer table", "\"" + name + "\"")};
    }
  }
  return {};
}

Problem checkAttributesPresent(const View& view) {
  for (const AttributeSpec& spec : attributeSpecs(layerOf(view).getType()).list) {
    if (!spec.optional && !view.attributes().has(spec.name)) {
      return {expectedGot("attribute \"" + spec.name + "\" of type " + spec.type, "none")};
    }
  }
  return {};
}

Problem checkAttributeTypes(const View& view) {
  for (const AttributeSpec& spec : attributeSpecs(layerOf(view).getType()).list) {
    const AttributeValue* value = view.attributes().find(spec.name);
    if (value != nullptr && spec.type != attributeTypeName(*value)) {
      return {expectedGot("attribute \"" + spec.name + "\" of type " + spec.type, attributeTypeName(*value))};
    }
  }
  return {};
}

Problem checkAttributeWords(const View& view) {
  for (const AttributeSpec& spec : attributeSpecs(layerOf(view).getType()).list) {
    if (spec.choices.empty() || !view.attributes().has(spec.name)) {
      continue;
    }
    std::string choices;
    bool known = false;
    const std::string& word = view.attributes().getString(spec.name);
    for (const std::string& choice : spec.choices) {
      known |= choice == word;
      choices += (choices.empty() ? "" : ", ") + choice;
    }
    if (!known) {
      return {expectedGot(spec.name + " to be one of " + choices, "\"" + word + "\"")};
    }
  }
  return {};
}

const Kind& kindOf(LayerType type) {
  static const auto* all = [] {
    auto* kinds = new std::vector<Kind>;
    for (const LayerInfo& info : layerTable()) {
      const Kind* const kind = layer_rules::findKind<Dim>(info.name);
      TORCHTRT_CHECK(kind != nullptr || info.type == LayerType::kCONSTANT || info.type == LayerType::kPLUGIN_V2,
                     "kind " << info.name << " has no rules");
      kinds->push_back(kind != nullptr ? *kind : info.type == LayerType::kCONSTANT ? constantKind() : pluginKind());
    }
    return kinds;
  }();
  return (*all)[static_cast<size_t>(type)];
}

void checkAll(const Rules& rules, const LayerContext& context) {
  for (const Rule& rule : rules) {
    if (const Problem problem = rule.check(context)) {
      const Layer& layer = context.layer();
      throw CompileError(ErrorCode::kInvalidNetwork,
                         "layer \"" + layer.getName() + "\" (" + layer.info().name + ") breaks rule \"" + rule.name +
                             "\": " + problem.text,
                         layer.location(), std::string("the rule: ") + rule.text);
    }
  }
}

}  // namespace

const Rules& commonRules() {
  static const auto* rules = new Rules{
      {"operands", "the number of operands is the table's, and only optional ones are null", checkOperands},
      {"attributes-known", "every attribute is one of the table's", checkAttributesKnown},
      {"attributes-present", "every attribute without default is given", checkAttributesPresent},
      {"attribute-types", "every attribute has the table's type", checkAttributeTypes},
      {"attribute-words", "every attribute with a list of words is one of them", checkAttributeWords},
  };
  return *rules;
}

const Rules& rulesOf(LayerType type) {
  return kindOf(type).rules;
}

void checkRules(const LayerContext& context) {
  checkAll(commonRules(), context);
  checkAll(rulesOf(context.layer().getType()), context);
}

TensorTypes inferTypes(const LayerContext& context) {
  const Layer& layer = context.layer();
  TensorTypes types = kindOf(layer.getType()).outputs(context);
  TORCHTRT_CHECK(
      types.size() == static_cast<size_t>(layer.getNbOutputs()),
      "inference of " << layer.info().name << " gave " << types.size() << " outputs of " << layer.getNbOutputs());
  return types;
}

}  // namespace torchtrt::network
