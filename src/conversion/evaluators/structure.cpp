#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>

#include "base/logging.h"
#include "conversion/evaluators/evaluators.h"

namespace torchtrt::conversion::evaluators {
namespace {

// Operands that are all known; network tensors come wrapped.
std::optional<std::vector<IValue>> operandsOf(const ConversionCtx& ctx, const Node& node) {
  std::vector<IValue> operands;
  for (const Value* input : node.inputs()) {
    auto value = lookUp(ctx, input);
    if (!value) {
      return std::nullopt;
    }
    operands.push_back(std::move(*value));
  }
  return operands;
}

bool constant(ConversionCtx& ctx, const Node& node) {
  auto value = torch::jit::toIValue(node.output());
  if (!value) {
    return false;
  }
  if (ctx.host_constant) {
    value = ctx.host_constant(*value);
  }
  ctx.AssociateValueAndIValue(node.output(), value->isList() ? value->deepcopy() : *value);
  return true;
}

// A list of PyTorch's own kind where its elements are, so that PyTorch's operators take it; else a list of anything.
IValue makeList(const Node& node, const std::vector<IValue>& elements) {
  const bool mixed = std::any_of(elements.begin(), elements.end(), holdsContainers);
  const c10::TypePtr type =
      mixed ? c10::TypePtr(c10::AnyType::get()) : node.output()->type()->expectRef<c10::ListType>().getElementType();
  c10::impl::GenericList list(type);
  for (const IValue& element : elements) {
    list.push_back(element);
  }
  return list;
}

bool listConstruct(ConversionCtx& ctx, const Node& node) {
  const auto elements = operandsOf(ctx, node);
  if (!elements) {
    return false;
  }
  ctx.AssociateValueAndIValue(node.output(), makeList(node, *elements));
  return true;
}

bool tupleConstruct(ConversionCtx& ctx, const Node& node) {
  auto elements = operandsOf(ctx, node);
  if (!elements) {
    return false;
  }
  ctx.AssociateValueAndIValue(node.output(), c10::ivalue::Tuple::create(std::move(*elements)));
  return true;
}

bool unpack(ConversionCtx& ctx, const Node& node) {
  const auto collection = lookUp(ctx, node.input());
  if (!collection) {
    return false;
  }
  const std::vector<IValue> elements =
      collection->isTuple() ? collection->toTupleRef().elements().vec() : collection->toListRef().vec();
  if (elements.size() != node.outputs().size()) {
    ctx.refuse("unpack", "expected " + std::to_string(node.outputs().size()) + " elements, got " +
                             std::to_string(elements.size()));
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    associate(ctx, node.outputs()[i], elements[i]);
  }
  return true;
}

bool tupleIndex(ConversionCtx& ctx, const Node& node) {
  const auto operands = operandsOf(ctx, node);
  if (!operands) {
    return false;
  }
  const auto& elements = (*operands)[0].toTupleRef().elements();
  const int64_t index = (*operands)[1].toInt();
  associate(ctx, node.output(),
            elements[static_cast<size_t>(index < 0 ? index + static_cast<int64_t>(elements.size()) : index)]);
  return true;
}

bool forward(ConversionCtx& ctx, const Node& node) {
  const auto value = lookUp(ctx, node.input(0));
  if (!value) {
    return false;
  }
  associate(ctx, node.output(), *value);
  return true;
}

bool uninitialized(ConversionCtx& ctx, const Node& node) {
  ctx.AssociateValueAndIValue(node.output(), IValue());
  return true;
}

bool raise(ConversionCtx& ctx, const Node& node) {
  const auto message = lookUp(ctx, node.input(0));
  ctx.refuse("raises", "the module raises an exception for these inputs: " +
                           (message && message->isString() ? message->toStringRef() : std::string("(computed text)")));
}

// Says once, while compiling, what the module would say at every call; only if nothing else can say it.
bool warn(ConversionCtx& ctx, const Node& node) {
  if (!ctx.is_whole) {
    ctx.refuse("side-effects", "aten::warn has effects beside its results");
  }
  const auto message = lookUp(ctx, node.input(0));
  TORCHTRT_LOG(kWARNING, "the module warns: " << (message && message->isString() ? message->toStringRef()
                                                                                 : std::string("(computed text)")));
  return true;
}

// A network tensor is something, so it is never None; PyTorch decides about what is known.
bool isNone(ConversionCtx& ctx, const Node& node) {
  const auto operands = operandsOf(ctx, node);
  if (!operands || !std::any_of(operands->begin(), operands->end(), holdsContainers)) {
    return false;
  }
  if (!(*operands)[0].isNone() && !(*operands)[1].isNone()) {
    return false;
  }
  ctx.AssociateValueAndIValue(node.output(), node.kind() == torch::jit::aten::__isnot__);
  return true;
}

// Questions about a network tensor's type; those about constants are PyTorch's.
template <typename Answer>
bool ofTensor(ConversionCtx& ctx, const Node& node, const Answer& answer) {
  const auto found = lookUp(ctx, node.input(0));
  const network::Tensor* tensor = found ? shapedIn(*found) : nullptr;
  if (!tensor) {
    return false;
  }
  ctx.AssociateValueAndIValue(node.output(), answer(*tensor, partsIn(*found).has_value()));
  return true;
}

bool dtype(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor& tensor, bool is_complex) {
    const at::ScalarType type = util::toScalarType(tensor.getType());
    return IValue(static_cast<int64_t>(is_complex ? c10::toComplexType(type) : type));
  });
}

bool isFloatingPoint(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor& tensor, bool is_complex) {
    return IValue(!is_complex && isFloating(tensor.getType()));
  });
}

bool asksForComplex(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor&, bool is_complex) { return IValue(is_complex); });
}

// Engines keep no gradients and do not cast on their own; their tensors are neither nested nor ask for a gradient.
bool never(ConversionCtx& ctx, const Node& node) {
  ctx.AssociateValueAndIValue(node.output(), false);
  return true;
}

bool neverOfTensor(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor&, bool) { return IValue(false); });
}

bool alwaysOfTensor(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor&, bool) { return IValue(true); });
}

bool layout(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor&, bool) { return IValue(static_cast<int64_t>(at::kStrided)); });
}

// Only passed on to operators that make tensors, which then are the engine's whatever the device.
bool device(ConversionCtx& ctx, const Node& node) {
  return ofTensor(ctx, node, [](const network::Tensor&, bool) { return IValue(at::Device(at::kCPU)); });
}

}  // namespace

void addStructureEvaluators(EvaluatorRegistry& registry) {
  registry.add("prim::Constant", constant);
  registry.add("prim::ListConstruct", listConstruct);
  registry.add("prim::ListUnpack", unpack);
  registry.add("prim::TupleConstruct", tupleConstruct);
  registry.add("prim::TupleUnpack", unpack);
  registry.add("prim::TupleIndex", tupleIndex);
  registry.add("prim::unchecked_cast", forward);
  registry.add("prim::data", forward);
  registry.add("aten::detach", forward);
  registry.add("aten::alias", forward);
  registry.add("aten::contiguous", forward);
  registry.add("aten::resolve_conj", forward);
  registry.add("aten::resolve_neg", forward);
  registry.add("prim::Uninitialized", uninitialized);
  registry.add("prim::RaiseException", raise);
  registry.add("aten::warn", warn);
  registry.add("aten::__is__", isNone);
  registry.add("aten::__isnot__", isNone);
  registry.add("prim::dtype", dtype);
  registry.add("prim::device", device);
  registry.add("prim::is_complex", asksForComplex);
  registry.add("aten::is_complex", asksForComplex);
  registry.add("aten::is_floating_point", isFloatingPoint);
  registry.add("prim::requires_grad", neverOfTensor);
  registry.add("prim::is_nested", neverOfTensor);
  for (const char* other :
       {"is_sparse", "is_sparse_csr", "is_quantized", "is_mkldnn", "is_cuda", "is_meta", "is_mps", "is_xpu"}) {
    registry.add(std::string("prim::") + other, neverOfTensor);
  }
  registry.add("prim::is_cpu", alwaysOfTensor);
  registry.add("prim::layout", layout);
  registry.add("aten::is_autocast_enabled", never);
  registry.add("aten::is_grad_enabled", never);
}

}  // namespace torchtrt::conversion::evaluators
