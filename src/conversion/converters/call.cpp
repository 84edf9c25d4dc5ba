#include "conversion/converters/call.h"

#include <algorithm>
#include <numeric>

#include "conversion/ivalues.h"
#include "lowering/graph_walk.h"

namespace torchtrt::conversion::converters {

std::vector<int64_t> Call::integers(size_t i, size_t count) const {
  std::vector<int64_t> values = integers(i);
  if (values.size() == 1) {
    values.resize(count, values[0]);
  }
  if (values.size() != count) {
    refuse("argument", "argument '" + arg(i).name() + "' has to hold " + std::to_string(count) + " numbers, got " +
                           std::to_string(values.size()));
  }
  return values;
}

DType Call::dtype(size_t i) const {
  return util::toDType(static_cast<at::ScalarType>(integer(i)));
}

DType Call::dtype(size_t i, DType fallback) const {
  return isNone(i) ? fallback : dtype(i);
}

// A trace writes a Python number as a 0-d tensor with a mark, which PyTorch heeds when it promotes.
Operand Call::operand(size_t i) const {
  const Var& var = arg(i);
  if (var.isIValue() && var.IValue()->isScalar()) {
    return {nullptr, true, var.IValue()->toScalar()};
  }
  const bool wrapped =
      var.isIValue() && var.IValue()->isTensor() && var.IValue()->toTensor().unsafeGetTensorImpl()->is_wrapped_number();
  if (wrapped) {
    return {nullptr, true, var.IValue()->toTensor().item()};
  }
  if (var.isIValue()) {
    if (const auto symbol = symbolIn(*var.IValue())) {
      const bool is_number = !lowering::isTensor(*node.inputs()[i]);
      return {sizeTensor(net, *symbol), is_number, {}};
    }
  }
  return {&tensor(i), false, {}};
}

int64_t Call::normalizeAxis(int64_t axis, int rank) const {
  const int64_t bound = std::max(rank, 1);
  if (axis < -bound || axis >= bound) {
    refuse("argument", "dimension " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  }
  return axis < 0 ? axis + bound : axis;
}

int64_t Call::axis(size_t i, int rank) const {
  return normalizeAxis(integer(i), rank);
}

std::vector<int64_t> Call::axes(size_t i, int rank) const {
  std::vector<int64_t> axes;
  if (!isNone(i)) {
    for (const int64_t axis : integers(i)) {
      axes.push_back(normalizeAxis(axis, rank));
    }
  }
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    refuse("argument", "argument '" + arg(i).name() + "' names a dimension twice");
  }
  return axes;
}

int64_t Call::number(const Dim& dim, const char* what) const {
  if (!dim.isConstant()) {
    refuse("dynamic-dimension",
           std::string(what) + " has to be a number, got " + dim.toString() + ", which is known only at run time");
  }
  return dim.constant();
}

Tensor& Call::add(LayerType type, const std::vector<Tensor*>& inputs, Attributes attributes) const {
  return *net.addLayer(type, inputs, std::move(attributes))->getOutput(0);
}

Tensor& Call::cast(Tensor& tensor, DType to) const {
  return tensor.getType() == to ? tensor : *net.addCast(tensor, to)->getOutput(0);
}

Tensor& Call::reshape(Tensor& tensor, const Dims& dims) const {
  if (tensor.getDimensions() == dims) {
    return tensor;
  }
  // 0 means "as the input" in reshape_dims; here it means no elements, and then there is nothing to move.
  if (std::find(dims.begin(), dims.end(), Dim(0)) != dims.end()) {
    return fill(0, dims, tensor.getType());
  }
  Attributes attributes;
  attributes.set("reshape_dims", dims);
  return add(LayerType::kSHUFFLE, {&tensor}, attributes);
}

Tensor& Call::permute(Tensor& tensor, const std::vector<int64_t>& permutation) const {
  if (std::is_sorted(permutation.begin(), permutation.end())) {
    return tensor;
  }
  Layer* shuffle = net.addShuffle(tensor);
  shuffle->setFirstTranspose(permutation);
  return *shuffle->getOutput(0);
}

Tensor& Call::unsqueeze(Tensor& tensor, int64_t axis) const {
  std::vector<Dim> dims = tensor.getDimensions().vec();
  dims.insert(dims.begin() + axis, Dim(1));
  return reshape(tensor, Dims(dims));
}

Tensor& Call::squeeze(Tensor& tensor, int64_t axis) const {
  std::vector<Dim> dims = tensor.getDimensions().vec();
  dims.erase(dims.begin() + axis);
  return reshape(tensor, Dims(dims));
}

Tensor& Call::expand(Tensor& tensor, const Dims& dims) const {
  if (tensor.getDimensions() == dims) {
    return tensor;
  }
  Attributes attributes;
  attributes.set("dims", dims);
  return add(LayerType::kEXPAND, {&tensor}, attributes);
}

Tensor& Call::slice(Tensor& tensor, int64_t axis, const Dim& start, const Dim& size, int64_t stride) const {
  Dims starts(std::vector<Dim>(static_cast<size_t>(tensor.rank())));
  Dims sizes = tensor.getDimensions();
  std::vector<int64_t> strides(static_cast<size_t>(tensor.rank()), 1);
  starts[static_cast<int>(axis)] = start;
  sizes[static_cast<int>(axis)] = size;
  strides[static_cast<size_t>(axis)] = stride;
  return *net.addSlice(tensor, starts, sizes, strides)->getOutput(0);
}

Tensor& Call::elementwise(const std::string& op, Tensor& a, Tensor& b) const {
  return *net.addElementWise(a, b, op)->getOutput(0);
}

Tensor& Call::unary(const std::string& op, Tensor& tensor) const {
  return *net.addUnary(tensor, op)->getOutput(0);
}

Tensor& Call::activation(const std::string& op, Tensor& tensor, double alpha, double beta) const {
  return *net.addActivation(tensor, op, alpha, beta)->getOutput(0);
}

Tensor& Call::reduce(const std::string& op, Tensor& tensor, const std::vector<int64_t>& axes, bool keep_dims) const {
  return *net.addReduce(tensor, op, axes, keep_dims)->getOutput(0);
}

Tensor& Call::constant(const at::Scalar& number, DType dtype) const {
  return *net.addConstant(Weights(&ctx, at::scalar_tensor(number, util::toScalarType(dtype))))->getOutput(0);
}

Tensor& Call::fill(const at::Scalar& number, const Dims& dims, DType dtype) const {
  Attributes attributes;
  attributes.set("op", std::string("constant"));
  attributes.set("dims", dims);
  attributes.set("dtype", dtype);
  // The value as the dtype holds it, so that a fraction given to an integer is cut off as PyTorch does.
  const at::Tensor value = at::scalar_tensor(number, util::toScalarType(dtype));
  if (isFloating(dtype)) {
    attributes.set("value", value.item<double>());
  } else {
    attributes.set("int_value", value.item<int64_t>());
  }
  return add(LayerType::kFILL, {}, attributes);
}

Tensor& Call::materialize(const Operand& operand, DType dtype) const {
  return operand.tensor ? cast(*operand.tensor, dtype) : constant(operand.number, dtype);
}

namespace {

DType numberType(const at::Scalar& number) {
  if (number.isBoolean()) {
    return DType::kBool;
  }
  return number.isIntegral(/*includeBool=*/false) ? DType::kInt64 : DType::kFloat32;
}

std::optional<DType> promote(std::optional<DType> a, std::optional<DType> b) {
  return a && b ? std::optional(promoteTypes(*a, *b)) : a ? a : b;
}

// The higher category decides unless the lower one is of a more general kind of number.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (higher && isFloating(*higher)) {
    return higher;
  }
  if (higher == DType::kBool || (lower && isFloating(*lower))) {
    return promote(higher, lower);
  }
  return higher ? higher : lower;
}

OpConverter associating(std::function<void(Call&)> convert) {
  return [convert = std::move(convert)](ConversionCtx* ctx, const torch::jit::Node* node, args& arguments) {
    Call call(ctx, node, arguments);
    convert(call);
    return true;
  };
}

}  // namespace

Attributes attributes(std::initializer_list<std::pair<const char*, AttributeValue>> values) {
  Attributes result;
  for (const auto& [name, value] : values) {
    result.set(name, value);
  }
  return result;
}

// Three categories, as in ATen: tensors with dimensions, 0-d tensors, Python numbers (a float being of the default
// dtype).
DType resultType(const std::vector<Operand>& operands) {
  std::optional<DType> dimensioned, scalar, wrapped;
  for (const Operand& operand : operands) {
    if (!operand.tensor) {
      wrapped = promote(wrapped, numberType(operand.number));
      continue;
    }
    auto& category = operand.is_wrapped_number ? wrapped : operand.tensor->rank() > 0 ? dimensioned : scalar;
    category = promote(category, operand.tensor->getType());
  }
  return combine(dimensioned, combine(scalar, wrapped)).value();
}

DType floatingType(DType dtype) {
  return isFloating(dtype) ? dtype : DType::kFloat32;
}

bool isOne(const Dim& dim) {
  return dim == Dim(1);
}

const Dim& dimOf(const Tensor& tensor, int64_t axis) {
  return tensor.getDimensions()[static_cast<int>(axis)];
}

Tensor& firstArgument(Call& call) {
  return call.tensor(0);
}

OpConverter free(FreeConverter converter) {
  return associating(converter);
}

OpConverter one(Converter converter) {
  return associating(
      [converter](Call& call) { call.ctx.AssociateValueAndTensor(call.node.output(), &converter(call)); });
}

OpConverter many(MultiConverter converter) {
  return associating([converter](Call& call) {
    const std::vector<Tensor*> tensors = converter(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      call.ctx.AssociateValueAndTensor(call.node.outputs()[i], tensors[i]);
    }
  });
}

OpConverter listOf(ListConverter converter) {
  return associating([converter](Call& call) {
    c10::impl::GenericList list(c10::AnyType::get());
    for (Tensor* tensor : converter(call)) {
      list.push_back(wrap(tensor));
    }
    call.ctx.AssociateValueAndIValue(call.node.output(), list);
  });
}

}  // namespace torchtrt::conversion::converters
