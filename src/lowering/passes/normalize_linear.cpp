#include <torch/csrc/jit/ir/constants.h>

#include "lowering/passes/passes.h"
#include "lowering/subgraph_pattern.h"

namespace torchtrt::lowering {
namespace {

std::optional<at::Tensor> constantTensor(const Captures& captures, const char* name) {
  const auto constant = torch::jit::toIValue(captures.at(name));
  return constant && constant->isTensor() ? std::optional(constant->toTensor()) : std::nullopt;
}

bool isOne(const Captures& captures, const char* name) {
  const auto constant = torch::jit::toIValue(captures.at(name));
  return constant && constant->isScalar() && constant->toScalar().toDouble() == 1.0;
}

// linear wants a matrix and a vector of its columns; an add would also broadcast or promote.
bool isLinear(const Captures& captures) {
  const auto weight = constantTensor(captures, "weight");
  const auto bias = constantTensor(captures, "bias");
  return weight && bias && weight->dim() == 2 && bias->dim() == 1 && bias->size(0) == weight->size(1) &&
         bias->scalar_type() == weight->scalar_type();
}

constexpr const char* kLinear = R"(
graph(%x, %weight, %bias, %alpha):
  %transposed = aten::t(%weight)
  %out = aten::linear(%x, %transposed, %bias)
  return (%out))";

}  // namespace

bool normalizeLinear(const GraphPtr& graph) {
  static const std::vector<SubgraphPattern> patterns = {
      {R"(
graph(%x, %weight, %bias, %beta, %alpha):
  %out = aten::addmm(%bias, %x, %weight, %beta, %alpha)
  return (%out))",
       R"(
graph(%x, %weight, %bias, %beta, %alpha):
  %transposed = aten::t(%weight)
  %out = aten::linear(%x, %transposed, %bias)
  return (%out))",
       [](const Captures& captures) {
         return isLinear(captures) && isOne(captures, "beta") && isOne(captures, "alpha");
       }},
      {R"(
graph(%x, %weight, %bias, %alpha):
  %product = aten::matmul(%x, %weight)
  %out = aten::add(%product, %bias, %alpha)
  return (%out))",
       kLinear, [](const Captures& captures) { return isLinear(captures) && isOne(captures, "alpha"); }},
      {R"(
graph(%x, %weight, %bias, %alpha):
  %product = aten::matmul(%x, %weight)
  %out = aten::add(%bias, %product, %alpha)
  return (%out))",
       kLinear, [](const Captures& captures) { return isLinear(captures) && isOne(captures, "alpha"); }},
  };
  return rewriteSubgraphs(graph, patterns);
}

}  // namespace torchtrt::lowering
