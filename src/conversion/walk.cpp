#include "conversion/walk.h"

#include "base/checkpoint.h"
#include "conversion/complex/complex.h"
#include "conversion/conversion.h"
#include "conversion/evaluators/evaluators.h"
#include "conversion/late_sizes.h"
#include "conversion/value_refusals.h"

namespace torchtrt::conversion {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// Loops are converted trip by trip up to these numbers. Beyond them, engines take long to make and gain little.
constexpr int64_t kMaxTrips = 4096;
constexpr int kMaxLayers = 10000;

// Document 002's text.
[[noreturn]] void throwUnsupported(const ConversionCtx& ctx, const Node& node) {
  if (ctx.composite) {
    const auto refusal = refusalOf(node);
    ctx.refuse(refusal ? refusal->code : "no-converter", refusal ? refusal->reason : "its operands are not known");
  }
  std::ostringstream text;
  text << "unable to convert node: " << util::node_info(&node);
  const auto* schema = node.maybeSchema();
  if (schema) {
    text << "\n  schema: " << *schema;
  }
  const auto refusal = refusalOf(node);
  text << "\n  "
       << (refusal ? refusal->reason : "no converter is registered for " + std::string(node.kind().toQualString()));
  throw CompileError(
      ErrorCode::kUnsupportedOperator, text.str(), util::locationOf(node),
      "let it run in PyTorch (require_full_compilation = false), or write a converter and register it with "
      "RegisterNodeConversionPatterns().pattern({schema, converter})");
}

bool known(const ConversionCtx& ctx, const Value* value) {
  return ctx.value_tensor_map.count(value) != 0 || ctx.evaluated_value_map.count(value) != 0;
}

IValue knownValue(const ConversionCtx& ctx, const Value* value) {
  const auto found = lookUp(ctx, value);
  if (!found) {
    ctx.refuse("control-flow", "operand %" + value->debugName() + " is neither a tensor of the network nor known");
  }
  return *found;
}

// The condition is known while compiling, or the node cannot be part of an engine.
void convertIf(ConversionCtx& ctx, const Node& node) {
  const auto condition = lookUp(ctx, node.input());
  if (!condition || !condition->isBool()) {
    ctx.refuse("control-flow", "the condition has to be known while compiling");
  }
  const Block& taken = *node.blocks()[condition->toBool() ? 0 : 1];
  convertNodes(ctx, taken);
  ctx.node = &node;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    associate(ctx, node.outputs()[i], knownValue(ctx, taken.outputs()[i]));
  }
}

bool knownCondition(const ConversionCtx& ctx, const Value* value) {
  const auto condition = lookUp(ctx, value);
  if (!condition || !condition->isBool()) {
    ctx.refuse("control-flow", "whether the loop goes on has to be known while compiling");
  }
  return condition->toBool();
}

// A loop whose trips are known is converted trip by trip. Block inputs: the trip's number, then what is carried;
// outputs: whether to go on, then what is carried.
void convertLoop(ConversionCtx& ctx, const Node& node) {
  const auto trips = lookUp(ctx, node.inputs()[0]);
  if (!trips || !trips->isInt()) {
    ctx.refuse("control-flow", "the number of trips has to be known while compiling");
  }
  const Block& body = *node.blocks()[0];
  bool goes_on = knownCondition(ctx, node.inputs()[1]);
  std::vector<IValue> carried;
  for (size_t i = 2; i < node.inputs().size(); ++i) {
    carried.push_back(knownValue(ctx, node.inputs()[i]));
  }
  const int layers_before = ctx.net->getNbLayers();
  for (int64_t trip = 0; goes_on && trip < trips->toInt(); ++trip) {
    if (trip == kMaxTrips) {
      ctx.refuse("control-flow", "the loop has more than " + std::to_string(kMaxTrips) + " trips");
    }
    if (ctx.net->getNbLayers() - layers_before > kMaxLayers) {
      ctx.refuse("control-flow", "the loop becomes more than " + std::to_string(kMaxLayers) + " layers");
    }
    ctx.AssociateValueAndIValue(body.inputs()[0], trip);
    for (size_t i = 0; i < carried.size(); ++i) {
      associate(ctx, body.inputs()[i + 1], carried[i]);
    }
    convertNodes(ctx, body);
    ctx.node = &node;
    goes_on = knownCondition(ctx, body.outputs()[0]);
    for (size_t i = 0; i < carried.size(); ++i) {
      carried[i] = knownValue(ctx, body.outputs()[i + 1]);
    }
  }
  for (size_t i = 0; i < carried.size(); ++i) {
    associate(ctx, node.outputs()[i], carried[i]);
  }
}

// Asks if the new layers behind the tensor belong into an engine.
void askForLayers(ConversionCtx& ctx, const network::Tensor* given) {
  if (!ctx.refusal_of_layer) {
    return;
  }
  std::vector<const network::Tensor*> pending = {given};
  while (!pending.empty()) {
    const network::Layer* const layer = pending.back() == nullptr ? nullptr : pending.back()->producer();
    pending.pop_back();
    if (layer == nullptr || !ctx.asked_layers.insert(layer->id()).second) {
      continue;
    }
    if (const auto refusal = ctx.refusal_of_layer(*layer)) {
      ctx.refuse(refusal->code, refusal->reason);
    }
    for (int i = 0; i < layer->getNbInputs(); ++i) {
      pending.push_back(layer->getInput(i));
    }
  }
}

void callConverter(ConversionCtx& ctx, const Node& node, const OpConverter& converter) {
  args arguments;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    arguments.emplace_back(&ctx, node.inputs()[i], i);
    const auto value = lookUp(ctx, node.inputs()[i]);
    if (const auto refusal = value ? refusalOfValue(*value) : std::nullopt) {
      ctx.refuse(refusal->code, refusal->reason);
    }
  }
  if (!converter(&ctx, &node, arguments)) {
    ctx.refuse("converter", "its converter gave up");
  }
  for (const Value* output : node.outputs()) {
    if (!known(ctx, output)) {
      ctx.refuse("converter", "its converter left output %" + output->debugName() + " without a tensor");
    }
    const auto tensor = ctx.value_tensor_map.find(output);
    if (tensor != ctx.value_tensor_map.end()) {
      tensor->second->getDimensions();  // inferred now, so that operands that do not fit are told of this node
      askForLayers(ctx, tensor->second);
    }
  }
}

void convertNode(ConversionCtx& ctx, const Node& node) {
  ctx.node = &node;
  ctx.net->setCurrentLocation(util::locationOf(ctx.visibleNode()));
  refuseLateSizes(ctx, node);
  if (node.kind() == prim::If) {
    convertIf(ctx, node);
  } else if (node.kind() == prim::Loop) {
    convertLoop(ctx, node);
  } else if (!complex::convert(ctx, node)) {
    convertReal(ctx, node);
  }
}

// Rethrows what a converter threw with the node's name and place, if it has none yet.
[[noreturn]] void rethrowWithPlace(const ConversionCtx& ctx, const CompileError& error) {
  const std::string text = std::string(ctx.visibleNode().kind().toQualString()) + ": " + error.message();
  const bool is_network = error.code() == ErrorCode::kInvalidNetwork;
  throw CompileError(is_network ? ErrorCode::kConversionFailed : error.code(), text,
                     util::locationOf(ctx.visibleNode()), error.advice());
}

void convertNodeWithPlace(ConversionCtx& ctx, const Node& node) {
  try {
    convertNode(ctx, node);
  } catch (const ConversionRefused& error) {
    if (!error.location().empty()) {
      throw;
    }
    const std::string who = ctx.visibleNode().kind().toQualString();
    throw ConversionRefused({error.refusal().code, who + ": " + error.refusal().reason},
                            util::locationOf(ctx.visibleNode()), error.advice());
  } catch (const CompileError& error) {
    const bool has_place = !error.location().empty() || error.code() == ErrorCode::kUnsupportedOperator;
    if (has_place && error.code() != ErrorCode::kInvalidNetwork) {
      throw;
    }
    rethrowWithPlace(ctx, error);
  } catch (const c10::Error& error) {
    throw CompileError(ErrorCode::kConversionFailed,
                       std::string(ctx.visibleNode().kind().toQualString()) + ": " + error.what_without_backtrace(),
                       util::locationOf(ctx.visibleNode()));
  }
}

}  // namespace

void convertReal(ConversionCtx& ctx, const Node& node) {
  if (evaluators::evaluate(ctx, node)) {
    return;
  }
  const OpConverter* converter = NodeConverterRegistry::instance().find(node);
  if (!converter) {
    throwUnsupported(ctx, node);
  }
  callConverter(ctx, node, *converter);
}

void convertNodes(ConversionCtx& ctx, const Block& block) {
  for (const Node* node : block.nodes()) {
    checkpoint();
    convertNodeWithPlace(ctx, *node);
  }
}

}  // namespace torchtrt::conversion
