// What a well-formed layer is: for each kind a list of named rules, each with its sentence and its check. This is the
// network's specification; the verifier, the inference of types and docs/layers.md read it from here.
#pragma once

#include <string>
#include <vector>

#include "network/layer_context.h"

namespace torchtrt::network {

struct Rule {
  const char* name;
  const char* text;  // what holds, one sentence without a final stop
  // Empty when the rule holds, else "expected ..., got ...". May assume all rules before it.
  std::string (*check)(const LayerContext& context);
};
using Rules = std::vector<Rule>;

const Rules& commonRules();  // hold for every kind, before its own: operands and attributes are as declared
const Rules& rulesOf(LayerType type);

// Throws CompileError (kInvalidNetwork) that names layer and rule. The operands' types must be known.
void checkRules(const LayerContext& context);

// The lists by family of kinds.
Rules convolutionRules();
Rules deconvolutionRules();
Rules poolingRules();
Rules adaptivePoolingRules();
Rules resizeRules();
Rules paddingRules();
Rules gridSampleRules();
Rules activationRules();
Rules parametricReluRules();
Rules unaryRules();
Rules elementwiseRules();
Rules selectRules();
Rules matrixMultiplyRules();
Rules quantizeRules();
Rules dequantizeRules();
Rules quantizedConvolutionRules();
Rules quantizedMatrixMultiplyRules();
Rules softMaxRules();
Rules reduceRules();
Rules topKRules();
Rules cumulativeRules();
Rules recurrentRules();
Rules normalizationRules();
Rules shuffleRules();
Rules sliceRules();
Rules expandRules();
Rules concatenationRules();
Rules gatherRules();
Rules scatterRules();
Rules constantRules();
Rules fillRules();
Rules pluginRules();

// Every name that an ACTIVATION, and hence a fused activation, may have.
bool isActivation(const std::string& op);

}  // namespace torchtrt::network
