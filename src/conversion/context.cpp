#include "conversion/ivalues.h"
#include "lowering/graph_walk.h"
#include "torchtrt/conversion.h"

namespace torchtrt::conversion {

using torch::jit::Value;

ConversionRefused::ConversionRefused(Refusal refusal, Location location, std::string advice)
    : CompileError(ErrorCode::kConversionFailed, refusal.reason + " [" + refusal.code + "]", std::move(location),
                   std::move(advice)),
      refusal_(std::move(refusal)) {}

network::Tensor* ConversionCtx::AssociateValueAndTensor(const Value* value, network::Tensor* tensor) {
  evaluated_value_map.erase(value);
  value_tensor_map[value] = tensor;
  return tensor;
}

IValue* ConversionCtx::AssociateValueAndIValue(const Value* value, IValue ivalue) {
  value_tensor_map.erase(value);
  return &(evaluated_value_map[value] = std::move(ivalue));
}

network::Tensor* ConversionCtx::tensorOf(const Value* value) {
  const auto known = value_tensor_map.find(value);
  if (known != value_tensor_map.end()) {
    return known->second;
  }
  const auto evaluated = evaluated_value_map.find(value);
  if (evaluated == evaluated_value_map.end()) {
    return nullptr;
  }
  const bool is_tensor = lowering::isTensor(*value);
  if (evaluated->second.isTensor()) {
    return constant(evaluated->second.toTensor());
  }
  const auto symbol = symbolIn(evaluated->second);
  return symbol && is_tensor ? sizeTensor(*net, *symbol) : nullptr;
}

// One layer for each constant, however many nodes use it. Its address identifies the tensor, which the graph keeps
// alive.
network::Tensor* ConversionCtx::constant(const at::Tensor& tensor) {
  const auto [entry, is_new] = constants_.try_emplace(tensor.unsafeGetTensorImpl());
  if (is_new) {
    entry->second.keep = tensor;
    entry->second.tensor = net->addConstant(Weights(this, tensor))->getOutput(0);
  }
  return entry->second.tensor;
}

void ConversionCtx::refuse(const std::string& code, const std::string& reason) const {
  const auto* visible = composite ? composite : node;
  std::string who = visible ? std::string(visible->kind().toQualString()) + ": " : "";
  if (composite && node && node != composite) {
    who += "in " + std::string(node->kind().toQualString()) + ": ";
  }
  throw ConversionRefused({code, who + reason}, visible ? util::locationOf(*visible) : Location{},
                          "let this operator run in PyTorch, or register a converter of your own for it");
}

}  // namespace torchtrt::conversion
