#include "conversion/ivalues.h"
#include "torchtrt/conversion.h"

namespace torchtrt::conversion {
namespace {

std::vector<int64_t> intsOf(const IValue& value) {
  return value.isInt() ? std::vector<int64_t>{value.toInt()} : value.toIntVector();
}

}  // namespace

Var::Var(ConversionCtx* ctx, const torch::jit::Value* value, size_t index) : ctx_(ctx), value_(value), index_(index) {
  const auto tensor = ctx->value_tensor_map.find(value);
  if (tensor != ctx->value_tensor_map.end()) {
    tensor_ = tensor->second;
    return;
  }
  const auto evaluated = ctx->evaluated_value_map.find(value);
  if (evaluated == ctx->evaluated_value_map.end()) {
    ctx->refuse("unknown-operand", "operand %" + value->debugName() + " is neither a tensor of the network nor known");
  }
  ivalue_ = &evaluated->second;
}

Var::Type Var::type() const {
  if (tensor_) {
    return Type::kITensor;
  }
  return isNone() ? Type::kNone : Type::kIValue;
}

std::string Var::type_name() const {
  if (tensor_) {
    return "a tensor of the network";
  }
  if (isNone()) {
    return "None";
  }
  if (partsIn(*ivalue_)) {
    return "a complex tensor";
  }
  return holdsContainers(*ivalue_) && !ivalue_->isList() ? "a size known only at run time" : ivalue_->tagKind();
}

std::string Var::name() const {
  const auto* schema = ctx_->node ? ctx_->node->maybeSchema() : nullptr;
  return schema && index_ < schema->arguments().size() ? schema->arguments()[index_].name() : std::to_string(index_);
}

void Var::mismatch(const char* wanted) const {
  if (ivalue_ && anyElement(*ivalue_, [](const torch::jit::IValue& element) { return partsIn(element).has_value(); })) {
    ctx_->refuse("complex", "argument '" + name() + "' is complex, and there are no layers for that here");
  }
  const bool symbolic = ivalue_ && holdsContainers(*ivalue_);
  ctx_->refuse(symbolic ? "dynamic-dimension" : "argument",
               "argument '" + name() + "' has to be " + wanted + ", got " + type_name() +
                   (symbolic ? " that depends on a dynamic dimension" : ""));
}

const torch::jit::IValue& Var::known(const char* wanted) const {
  if (!ivalue_) {
    mismatch(wanted);
  }
  return *ivalue_;
}

network::Tensor* Var::ITensor() const {
  network::Tensor* tensor = tensor_ ? tensor_ : ctx_->tensorOf(value_);
  if (!tensor) {
    mismatch("a tensor");
  }
  return tensor;
}

network::Tensor* Var::ITensorOrFreeze(ConversionCtx*) const {
  return ITensor();
}

at::Tensor Var::unwrapToTensor() const {
  const torch::jit::IValue& value = known("a constant tensor");
  if (!value.isTensor()) {
    mismatch("a constant tensor");
  }
  return value.toTensor();
}

at::Tensor Var::unwrapToTensor(at::Tensor fallback) const {
  return isNone() ? std::move(fallback) : unwrapToTensor();
}

int64_t Var::unwrapToInt() const {
  const auto dim = dimIn(known("a whole number"));
  if (!dim || !dim->isConstant()) {
    mismatch("a whole number");
  }
  return dim->constant();
}

int64_t Var::unwrapToInt(int64_t fallback) const {
  return isNone() ? fallback : unwrapToInt();
}

double Var::unwrapToDouble() const {
  return unwrapToScalar().toDouble();
}

double Var::unwrapToDouble(double fallback) const {
  return isNone() ? fallback : unwrapToDouble();
}

bool Var::unwrapToBool() const {
  const torch::jit::IValue& value = known("True or False");
  if (!value.isBool()) {
    mismatch("True or False");
  }
  return value.toBool();
}

bool Var::unwrapToBool(bool fallback) const {
  return isNone() ? fallback : unwrapToBool();
}

at::Scalar Var::unwrapToScalar() const {
  const torch::jit::IValue& value = known("a number");
  if (value.isTensor() && value.toTensor().dim() == 0) {
    return value.toTensor().item();
  }
  if (!value.isScalar()) {
    mismatch("a number");
  }
  return value.toScalar();
}

at::Scalar Var::unwrapToScalar(at::Scalar fallback) const {
  return isNone() ? fallback : unwrapToScalar();
}

std::string Var::unwrapToString() const {
  const torch::jit::IValue& value = known("a string");
  if (!value.isString()) {
    mismatch("a string");
  }
  return value.toStringRef();
}

std::string Var::unwrapToString(std::string fallback) const {
  return isNone() ? std::move(fallback) : unwrapToString();
}

c10::List<int64_t> Var::unwrapToIntList() const {
  const torch::jit::IValue& value = known("a list of whole numbers");
  if (value.isInt() || value.isIntList()) {
    return c10::List<int64_t>(intsOf(value));
  }
  c10::List<int64_t> numbers;
  for (const Dim& dim : unwrapToDimList()) {
    if (!dim.isConstant()) {
      mismatch("a list of whole numbers");
    }
    numbers.push_back(dim.constant());
  }
  return numbers;
}

c10::List<int64_t> Var::unwrapToIntList(c10::List<int64_t> fallback) const {
  return isNone() ? std::move(fallback) : unwrapToIntList();
}

c10::List<double> Var::unwrapToDoubleList() const {
  const torch::jit::IValue& value = known("a list of numbers");
  if (!value.isDoubleList()) {
    mismatch("a list of numbers");
  }
  return value.toDoubleList();
}

c10::List<double> Var::unwrapToDoubleList(c10::List<double> fallback) const {
  return isNone() ? std::move(fallback) : unwrapToDoubleList();
}

c10::List<bool> Var::unwrapToBoolList() const {
  const torch::jit::IValue& value = known("a list of True and False");
  if (!value.isBoolList()) {
    mismatch("a list of True and False");
  }
  return value.toBoolList();
}

c10::List<bool> Var::unwrapToBoolList(c10::List<bool> fallback) const {
  return isNone() ? std::move(fallback) : unwrapToBoolList();
}

Dim Var::unwrapToDim() const {
  const auto dim = dimIn(known("a whole number"));
  if (!dim) {
    mismatch("a whole number");
  }
  return *dim;
}

std::vector<Dim> Var::unwrapToDimList() const {
  const torch::jit::IValue& value = known("a list of whole numbers");
  if (const auto dim = dimIn(value)) {
    return {*dim};
  }
  if (!value.isList()) {
    mismatch("a list of whole numbers");
  }
  std::vector<Dim> dims;
  for (const torch::jit::IValue& element : value.toListRef()) {
    const auto dim = dimIn(element);
    if (!dim) {
      mismatch("a list of whole numbers");
    }
    dims.push_back(*dim);
  }
  return dims;
}

std::vector<network::Tensor*> Var::unwrapToITensorList() const {
  const torch::jit::IValue& value = known("a list of tensors");
  if (!value.isList()) {
    mismatch("a list of tensors");
  }
  std::vector<network::Tensor*> tensors;
  for (const torch::jit::IValue& element : value.toListRef()) {
    const auto symbol = symbolIn(element);
    network::Tensor* tensor = tensorIn(element);
    if (element.isTensor()) {
      tensor = ctx_->constant(element.toTensor());
    } else if (symbol) {
      tensor = sizeTensor(*ctx_->net, *symbol);
    }
    if (!tensor) {
      mismatch("a list of tensors");
    }
    tensors.push_back(tensor);
  }
  return tensors;
}

}  // namespace torchtrt::conversion
