// The rules of layers (base/layer_rules) as the verifier, the inference of types and docs/layers.md ask for them.
#pragma once

#include <vector>

#include "base/layer_rules/rule.h"
#include "network/layer_context.h"

namespace torchtrt::network {

using layer_rules::Problem;
using Rule = layer_rules::Rule<Dim>;
using Rules = std::vector<Rule>;
using Kind = layer_rules::Kind<Dim>;
using TensorTypes = std::vector<TensorType>;

const Rules& commonRules();  // hold for every kind, before its own: operands and attributes are as declared
const Rules& rulesOf(LayerType type);

// Throws CompileError (kInvalidNetwork) that names layer and rule. The operands' types must be known.
void checkRules(const LayerContext& context);

// The types of the outputs, of a layer that keeps its rules.
TensorTypes inferTypes(const LayerContext& context);

// The kinds that plans do not have, or have no rules for.
Kind constantKind();
Kind pluginKind();

// Every layer of a network is seen as a LayerContext.
inline const Layer& layerOf(const layer_rules::LayerView<Dim>& view) {
  return static_cast<const LayerContext&>(view).layer();
}

}  // namespace torchtrt::network
