#include "conversion/late_sizes.h"

#include <set>

#include "conversion/collections.h"
#include "conversion/conversion.h"
#include "conversion/ivalues.h"
#include "network/counted.h"

namespace torchtrt::conversion {

namespace {

using torch::jit::Node;
using torch::jit::Value;

bool holdsCounted(const IValue& value) {
  return anyElement(value, [](const IValue& element) {
    const network::Tensor* tensor = shapedIn(element);
    return tensor != nullptr && network::isCounted(*tensor);
  });
}

// Null where nothing of the value is such a tensor. Collections are looked through, to the node that computes.
const Node* giverOf(const ConversionCtx& ctx, const Value* value) {
  const auto known = lookUp(ctx, value);
  if (!known || !holdsCounted(*known)) {
    return nullptr;
  }
  if (movesElements(*value->node())) {
    for (const Value* element : value->node()->inputs()) {
      if (const Node* giver = giverOf(ctx, element)) {
        return giver;
      }
    }
  }
  return value->node();
}

}  // namespace

bool hasLateSize(const Node& node) {
  static const std::set<std::string> kinds = {"aten::nonzero",       "aten::nonzero_numpy",     "aten::argwhere",
                                              "aten::masked_select", "aten::_unique",           "aten::_unique2",
                                              "torchvision::nms",    "aten::unique_consecutive"};
  const std::string kind = node.kind().toQualString();
  return kinds.count(kind) != 0 || (kind == "aten::where" && node.inputs().size() == 1);
}

void refuseLateSizes(ConversionCtx& ctx, const Node& node) {
  static const auto kGetItem = c10::Symbol::fromQualString("aten::__getitem__");
  if (movesElements(node) || node.kind() == kGetItem) {
    return;
  }
  for (const Value* input : node.inputs()) {
    if (const Node* giver = giverOf(ctx, input)) {
      ctx.node = giver;
      ctx.refuse(ctx.composite != nullptr ? "data-dependent" : kLateSize,
                 "how large its result is shows when it has run");
    }
  }
}

}  // namespace torchtrt::conversion
