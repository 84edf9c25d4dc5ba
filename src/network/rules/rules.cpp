// The rules of every kind, and which further ones each kind has.
#include "network/rules/rules.h"

#include "network/attribute_spec.h"
#include "network/rules/checks.h"

namespace torchtrt::network {
namespace {

std::string checkOperands(const LayerContext& context) {
  const LayerInfo& info = context.layer().info();
  const int count = context.operands();
  if (count < info.min_operands || (info.max_operands >= 0 && count > info.max_operands)) {
    const std::string most = info.max_operands < 0 ? " or more" : " to " + std::to_string(info.max_operands);
    return expectedGot(std::to_string(info.min_operands) + most + " operands", std::to_string(count));
  }
  for (int i = 0; i < count; ++i) {
    if (!context.has(i) && (info.max_operands < 0 || i < info.min_operands)) {
      return expectedGot("operand " + std::to_string(i), "null");
    }
  }
  return "";
}

std::string checkAttributesKnown(const LayerContext& context) {
  const AttributeSpecs& specs = attributeSpecs(context.layer().getType());
  for (const auto& [name, value] : context.attributes().values()) {
    if (!specs.open && specs.find(name) == nullptr) {
      return expectedGot("attributes of the layer table", "\"" + name + "\"");
    }
  }
  return "";
}

std::string checkAttributesPresent(const LayerContext& context) {
  for (const AttributeSpec& spec : attributeSpecs(context.layer().getType()).list) {
    if (!spec.optional && !context.attributes().has(spec.name)) {
      return expectedGot("attribute \"" + spec.name + "\" of type " + spec.type, "none");
    }
  }
  return "";
}

std::string checkAttributeTypes(const LayerContext& context) {
  for (const AttributeSpec& spec : attributeSpecs(context.layer().getType()).list) {
    const AttributeValue* value = context.attributes().find(spec.name);
    if (value != nullptr && spec.type != attributeTypeName(*value)) {
      return expectedGot("attribute \"" + spec.name + "\" of type " + spec.type, attributeTypeName(*value));
    }
  }
  return "";
}

std::string checkAttributeWords(const LayerContext& context) {
  for (const AttributeSpec& spec : attributeSpecs(context.layer().getType()).list) {
    if (spec.choices.empty() || !context.attributes().has(spec.name)) {
      continue;
    }
    std::string choices;
    bool known = false;
    const std::string& word = context.attributes().getString(spec.name);
    for (const std::string& choice : spec.choices) {
      known |= choice == word;
      choices += (choices.empty() ? "" : ", ") + choice;
    }
    if (!known) {
      return expectedGot(spec.name + " to be one of " + choices, "\"" + word + "\"");
    }
  }
  return "";
}

Rules listOf(LayerType type) {
  switch (type) {
    case LayerType::kCONSTANT:
      return constantRules();
    case LayerType::kCONVOLUTION:
      return convolutionRules();
    case LayerType::kDECONVOLUTION:
      return deconvolutionRules();
    case LayerType::kPOOLING:
      return poolingRules();
    case LayerType::kADAPTIVE_POOLING:
      return adaptivePoolingRules();
    case LayerType::kACTIVATION:
      return activationRules();
    case LayerType::kPARAMETRIC_RELU:
      return parametricReluRules();
    case LayerType::kUNARY:
      return unaryRules();
    case LayerType::kELEMENTWISE:
      return elementwiseRules();
    case LayerType::kMATRIX_MULTIPLY:
      return matrixMultiplyRules();
    case LayerType::kQUANTIZE:
      return quantizeRules();
    case LayerType::kDEQUANTIZE:
      return dequantizeRules();
    case LayerType::kQUANTIZED_CONVOLUTION:
      return quantizedConvolutionRules();
    case LayerType::kQUANTIZED_MATRIX_MULTIPLY:
      return quantizedMatrixMultiplyRules();
    case LayerType::kSOFTMAX:
      return softMaxRules();
    case LayerType::kREDUCE:
      return reduceRules();
    case LayerType::kSHUFFLE:
      return shuffleRules();
    case LayerType::kSLICE:
      return sliceRules();
    case LayerType::kEXPAND:
      return expandRules();
    case LayerType::kCONCATENATION:
      return concatenationRules();
    case LayerType::kGATHER:
      return gatherRules();
    case LayerType::kSELECT:
      return selectRules();
    case LayerType::kNORMALIZATION:
      return normalizationRules();
    case LayerType::kRESIZE:
      return resizeRules();
    case LayerType::kPADDING:
      return paddingRules();
    case LayerType::kTOPK:
      return topKRules();
    case LayerType::kCUMULATIVE:
      return cumulativeRules();
    case LayerType::kSCATTER:
      return scatterRules();
    case LayerType::kGRID_SAMPLE:
      return gridSampleRules();
    case LayerType::kRECURRENT:
      return recurrentRules();
    case LayerType::kFILL:
      return fillRules();
    case LayerType::kPLUGIN_V2:
      return pluginRules();
    case LayerType::kCAST:
    case LayerType::kIDENTITY:
    case LayerType::kREFORMAT:
      break;
  }
  return {};  // any dtype, any dims
}

void checkAll(const Rules& rules, const LayerContext& context) {
  for (const Rule& rule : rules) {
    const std::string problem = rule.check(context);
    if (!problem.empty()) {
      const Layer& layer = context.layer();
      throw CompileError(
          ErrorCode::kInvalidNetwork,
          "layer \"" + layer.getName() + "\" (" + layer.info().name + ") breaks rule \"" + rule.name + "\": " + problem,
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
  static const auto* lists = [] {
    auto* all = new std::vector<Rules>;
    for (const LayerInfo& info : layerTable()) {
      all->push_back(listOf(info.type));
    }
    return all;
  }();
  return (*lists)[static_cast<size_t>(type)];
}

void checkRules(const LayerContext& context) {
  checkAll(commonRules(), context);
  checkAll(rulesOf(context.layer().getType()), context);
}

}  // namespace torchtrt::network
