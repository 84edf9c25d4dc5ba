#include "conversion/conversion.h"

#include "conversion/ivalues.h"
#include "conversion/walk.h"
#include "network/undecided.h"

namespace torchtrt::conversion {
namespace {

using torch::jit::Block;
using torch::jit::Value;

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
  } else if (partsIn(value)) {
    ctx.refuse("complex", "an output is complex, and engines give real tensors");
  } else {
    throw CompileError(ErrorCode::kConversionFailed, "an output is " + value.tagKind() + ", expected a tensor", {},
                       "return tensors, or tuples and lists of them");
  }
}

void markOutputs(ConversionCtx& ctx, const Block& block, const ConversionRequest& request) {
  std::vector<network::Tensor*> outputs;
  for (const Value* output : block.outputs()) {
    ctx.node = output->node();
    collectOutputs(ctx, lookUp(ctx, output).value(), &outputs);
  }
  ctx.node = nullptr;
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
  ctx.is_whole = request.is_whole;
  ctx.host_constant = request.host_constant;
  ctx.refusal_of_layer = request.refusal_of_layer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const BlockInput& input = request.inputs[i];
    network::Tensor* const tensor = net->addInput(input.name, input.dtype, input.dims);
    if (input.channels_last && input.dims.rank() == 4) {
      tensor->setMemoryOrder({0, 2, 3, 1});
    }
    ctx.AssociateValueAndTensor(block.inputs()[i], tensor);
  }
  try {
    convertNodes(ctx, block);
    markOutputs(ctx, block, request);
  } catch (...) {
    if (request.failed_node != nullptr) {
      *request.failed_node = ctx.composite ? ctx.composite : ctx.node;
    }
    if (request.undecided != nullptr) {
      *request.undecided = network::undecidedDims(*net);
    }
    throw;
  }
  return net;
}

}  // namespace torchtrt::conversion
