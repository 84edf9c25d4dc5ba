#include "network/counted.h"

#include <algorithm>

namespace torchtrt::network {

bool isCounted(const Tensor& tensor) {
  const Layer* producer = tensor.producer();
  if (producer == nullptr || producer->getType() != LayerType::kPLUGIN_V2) {
    return false;
  }
  const AttributeValue* counted = producer->attributes().find("counted");
  const auto* outputs = counted != nullptr ? std::get_if<std::vector<int64_t>>(counted) : nullptr;
  return outputs != nullptr && std::find(outputs->begin(), outputs->end(), tensor.outputIndex()) != outputs->end();
}

}  // namespace torchtrt::network
