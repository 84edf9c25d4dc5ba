#include "conversion/ivalues.h"

#include <algorithm>

#include "conversion/value_refusals.h"

namespace torchtrt::conversion {
namespace {

// Registered with libtorch, which allows only known classes inside an IValue.
const auto kTensorContainerClass = torch::class_<TensorContainer>("torchtrt_conversion", "TensorContainer");
const auto kComplexContainerClass = torch::class_<ComplexContainer>("torchtrt_conversion", "ComplexContainer");
const auto kSizeContainerClass = torch::class_<SizeContainer>("torchtrt_conversion", "SizeContainer");

template <typename T>
bool holds(const IValue& value) {
  return value.isCustomClass() && value.type() == c10::getCustomClassType<c10::intrusive_ptr<T>>();
}

}  // namespace

IValue wrap(network::Tensor* tensor) {
  return IValue(c10::make_intrusive<TensorContainer>(tensor));
}

IValue wrap(const Parts& parts) {
  return IValue(c10::make_intrusive<ComplexContainer>(parts));
}

IValue wrap(const Dim& dim) {
  return dim.isConstant() ? IValue(dim.constant()) : IValue(c10::make_intrusive<SizeContainer>(dim));
}

network::Tensor* tensorIn(const IValue& value) {
  return holds<TensorContainer>(value) ? value.toCustomClass<TensorContainer>()->tensor() : nullptr;
}

std::optional<Parts> partsIn(const IValue& value) {
  return holds<ComplexContainer>(value) ? std::optional(value.toCustomClass<ComplexContainer>()->parts())
                                        : std::nullopt;
}

network::Tensor* shapedIn(const IValue& value) {
  const auto parts = partsIn(value);
  return parts ? parts->re : tensorIn(value);
}

std::optional<Dim> symbolIn(const IValue& value) {
  return holds<SizeContainer>(value) ? std::optional(value.toCustomClass<SizeContainer>()->dim()) : std::nullopt;
}

std::optional<Dim> dimIn(const IValue& value) {
  if (value.isInt()) {
    return Dim(value.toInt());
  }
  const bool scalar_tensor = value.isTensor() && value.toTensor().defined() && value.toTensor().dim() == 0;
  if (scalar_tensor && c10::isIntegralType(value.toTensor().scalar_type(), /*includeBool=*/false)) {
    return Dim(value.toTensor().item<int64_t>());
  }
  return symbolIn(value);
}

bool anyElement(const IValue& value, const std::function<bool(const IValue&)>& predicate) {
  const auto any = [&](const IValue& element) { return anyElement(element, predicate); };
  if (value.isList()) {
    const auto list = value.toListRef();
    return std::any_of(list.begin(), list.end(), any);
  }
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    return std::any_of(elements.begin(), elements.end(), any);
  }
  return predicate(value);
}

bool isComplex(const IValue& value) {
  return value.isComplexDouble() || (value.isTensor() && value.toTensor().defined() && value.toTensor().is_complex());
}

std::optional<Refusal> refusalOfValue(const IValue& value) {
  if (anyElement(value, isComplex)) {
    return kComplex;
  }
  const auto has_other_layout = [](const IValue& element) {
    return element.isTensor() && element.toTensor().defined() && element.toTensor().layout() != at::kStrided;
  };
  if (anyElement(value, has_other_layout)) {
    return Refusal{"memory-layout", "it computes with a sparse tensor, or one of another library's layout"};
  }
  return std::nullopt;
}

bool holdsContainers(const IValue& value) {
  return anyElement(value, [](const IValue& element) {
    return holds<TensorContainer>(element) || holds<SizeContainer>(element) || holds<ComplexContainer>(element);
  });
}

std::optional<IValue> lookUp(const ConversionCtx& ctx, const torch::jit::Value* value) {
  const auto tensor = ctx.value_tensor_map.find(value);
  if (tensor != ctx.value_tensor_map.end()) {
    return wrap(tensor->second);
  }
  const auto ivalue = ctx.evaluated_value_map.find(value);
  return ivalue != ctx.evaluated_value_map.end() ? std::optional(ivalue->second) : std::nullopt;
}

void associate(ConversionCtx& ctx, const torch::jit::Value* value, IValue ivalue) {
  if (network::Tensor* tensor = tensorIn(ivalue)) {
    ctx.AssociateValueAndTensor(value, tensor);
  } else {
    ctx.AssociateValueAndIValue(value, std::move(ivalue));
  }
}

// There is no layer that reads a size, but the sum of as many ones is that size.
network::Tensor* sizeTensor(network::Network& net, const Dim& dim) {
  Attributes ones;
  ones.set("op", std::string("constant"));
  ones.set("dims", Dims{dim});
  ones.set("dtype", DType::kInt64);
  ones.set("int_value", int64_t{1});
  network::Layer* fill = net.addLayer(network::LayerType::kFILL, {}, ones);
  return net.addReduce(*fill->getOutput(0), "sum", {0}, false)->getOutput(0);
}

}  // namespace torchtrt::conversion
