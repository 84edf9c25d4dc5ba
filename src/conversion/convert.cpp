#include "conversion/conversion.h"

#include "conversion/evaluators/evaluators.h"

namespace torchtrt::conversion {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

void convertNodes(ConversionCtx& ctx, const Block& block);

// Document 002's text.
[[noreturn]] void throwUnsupported(const Node& node) {
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

// The condition is known while compiling, or the node cannot be part of an engine.
void convertIf(ConversionCtx& ctx, const Node& node) {
  const auto condition = lookUp(ctx, node.input());
  if (!condition || !condition->isBool()) {
    ctx.refuse("control-flow", "the condition has to be known while compiling");
  }
  const Block& taken = *node.blocks()[condition->toBool() ? 0 : 1];
  convertNodes(ctx, taken);
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const auto value = lookUp(ctx, taken.outputs()[i]);
    if (!value) {
      throwUnsupported(node);
    }
    associate(ctx, node.outputs()[i], *value);
  }
}

void callConverter(ConversionCtx& ctx, const Node& node, const OpConverter& converter) {
  args arguments;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    arguments.emplace_back(&ctx, node.inputs()[i], i);
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
    }
  }
}

void convertNode(ConversionCtx& ctx, const Node& node) {
  ctx.node = &node;
  ctx.net->setCurrentLocation(util::locationOf(node));
  if (node.kind() == prim::If) {
    convertIf(ctx, node);
  } else if (!evaluators::evaluate(ctx, node)) {
    const OpConverter* converter = NodeConverterRegistry::instance().find(node);
    if (!converter) {
      throwUnsupported(node);
    }
    callConverter(ctx, node, *converter);
  }
}

// What a converter throws without saying where gets the node's place.
void convertNodes(ConversionCtx& ctx, const Block& block) {
  for (const Node* node : block.nodes()) {
    try {
      convertNode(ctx, *node);
    } catch (const ConversionRefused& error) {
      if (!error.location().empty()) {
        throw;
      }
      throw ConversionRefused(
          {error.refusal().code, std::string(node->kind().toQualString()) + ": " + error.refusal().reason},
          util::locationOf(*node), error.advice());
    } catch (const CompileError& error) {
      if (error.code() == ErrorCode::kInvalidNetwork) {
        throw CompileError(ErrorCode::kConversionFailed,
                           std::string(node->kind().toQualString()) + ": " + error.message(), util::locationOf(*node),
                           error.advice());
      }
      if (!error.location().empty() || error.code() == ErrorCode::kUnsupportedOperator) {
        throw;
      }
      throw CompileError(error.code(), std::string(node->kind().toQualString()) + ": " + error.message(),
                         util::locationOf(*node), error.advice());
    } catch (const c10::Error& error) {
      throw CompileError(ErrorCode::kConversionFailed,
                         std::string(node->kind().toQualString()) + ": " + error.what_without_backtrace(),
                         util::locationOf(*node));
    }
  }
}

// Tensors of an output in order; tuples and lists are taken apart.
void collectOutputs(ConversionCtx& ctx, const IValue& value, std::vector<network::Tensor*>* outputs) {
  if (network::Tensor* tensor = tensorIn(value)) {
    outputs->push_back(tensor);
  } else if (value.isTensor()) {
    outputs->push_back(ctx.constant(value.toTensor()));
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      collectOutputs(ctx, element, outputs);
    }
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      collectOutputs(ctx, element, outputs);
    }
  } else if (const auto symbol = symbolIn(value)) {
    outputs->push_back(sizeTensor(*ctx.net, *symbol));
  } else {
    throw CompileError(ErrorCode::kConversionFailed, "an output is " + value.tagKind() + ", expected a tensor", {},
                       "return tensors, or tuples and lists of them");
  }
}

void markOutputs(ConversionCtx& ctx, const Block& block, const ConversionRequest& request) {
  ctx.node = nullptr;
  std::vector<network::Tensor*> outputs;
  for (const Value* output : block.outputs()) {
    collectOutputs(ctx, lookUp(ctx, output).value(), &outputs);
  }
  if (!request.output_names.empty() && request.output_names.size() != outputs.size()) {
    throw CompileError(ErrorCode::kInvalidOption, "expected " + std::to_string(outputs.size()) + " output names, got " +
                                                      std::to_string(request.output_names.size()));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    network::Tensor* tensor = outputs[i];
    if (tensor->isNetworkInput() || tensor->constant()) {
      tensor = ctx.net->addIdentity(*tensor)->getOutput(0);
    }
    ctx.net->markOutput(*tensor,
                        request.output_names.empty() ? "output_" + std::to_string(i) : request.output_names[i]);
  }
}

}  // namespace

std::unique_ptr<network::Network> convert(const Block& block, const ConversionRequest& request) {
  if (request.inputs.size() != block.inputs().size()) {
    throw CompileError(ErrorCode::kInvalidInputSpec, "expected specifications for " +
                                                         std::to_string(block.inputs().size()) + " inputs, got " +
                                                         std::to_string(request.inputs.size()));
  }
  auto net = std::make_unique<network::Network>();
  net->setName(request.name);
  for (const Symbol& symbol : request.symbols) {
    net->addSymbol(symbol);
  }
  ConversionCtx ctx(*net);
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const BlockInput& input = request.inputs[i];
    ctx.AssociateValueAndTensor(block.inputs()[i], net->addInput(input.name, input.dtype, input.dims));
  }
  try {
    convertNodes(ctx, block);
    markOutputs(ctx, block, request);
  } catch (...) {
    if (request.failed_node != nullptr) {
      *request.failed_node = ctx.node;
    }
    throw;
  }
  return net;
}

}  // namespace torchtrt::conversion
