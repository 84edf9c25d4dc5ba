#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

// Reached where a size or a dtype is that of a network tensor; what is all constant has been computed by PyTorch
// before.

namespace torchtrt::conversion::converters {
namespace {

DType typeOf(const at::Scalar& number) {
  return number.isBoolean() ? DType::kBool : number.isIntegral(/*includeBool=*/false) ? DType::kInt64 : DType::kFloat32;
}

// size, dtype, ...
template <int number>
Tensor& ofSize(Call& call) {
  return call.fill(number, Dims(call.dims(0)), call.dtype(1, DType::kFloat32));
}

// size, fill_value, dtype, ...
Tensor& full(Call& call) {
  return call.fill(call.number(1), Dims(call.dims(0)), call.dtype(2, typeOf(call.number(1))));
}

// self, dtype, ...
template <int number>
Tensor& likeSelf(Call& call) {
  Tensor& self = call.tensor(0);
  return call.fill(number, self.getDimensions(), call.dtype(1, self.getType()));
}

// self, fill_value, dtype, ...
Tensor& fullLike(Call& call) {
  Tensor& self = call.tensor(0);
  return call.fill(call.number(1), self.getDimensions(), call.dtype(2, self.getType()));
}

// self, value
Tensor& fillScalar(Call& call) {
  Tensor& self = call.tensor(0);
  return call.fill(call.number(1), self.getDimensions(), self.getType());
}

Tensor& fillTensor(Call& call) {
  Tensor& self = call.tensor(0);
  return call.expand(call.cast(call.tensor(1), self.getType()), self.getDimensions());
}

// self, size, dtype, ...
template <int number>
Tensor& newOfSize(Call& call) {
  return call.fill(number, Dims(call.dims(1)), call.dtype(2, call.tensor(0).getType()));
}

// self, size, fill_value, dtype, ...
Tensor& newFull(Call& call) {
  return call.fill(call.number(2), Dims(call.dims(1)), call.dtype(3, call.tensor(0).getType()));
}

Tensor& range(const Call& call, const Dim& count, int64_t start, int64_t step) {
  return call.add(LayerType::kFILL, {},
                  attributes({{"op", std::string("arange")},
                              {"dims", Dims{count}},
                              {"dtype", DType::kInt64},
                              {"int_value", start},
                              {"int_step", step}}));
}

// Whole numbers with a symbolic end.
Tensor& countUp(const Call& call, const Dim& start, const Dim& end, int64_t step, size_t dtype_position) {
  const Dim count = step == 1 ? end - start : Dim::ceilDiv(end - start, step);
  const int64_t first = call.number(start, "the start of a range");
  return call.cast(range(call, count, first, step), call.dtype(dtype_position, DType::kInt64));
}

// end, dtype, ...
Tensor& arange(Call& call) {
  return countUp(call, 0, call.dim(0), 1, 1);
}

// start, end, dtype, ...
Tensor& arangeFrom(Call& call) {
  return countUp(call, call.dim(0), call.dim(1), 1, 2);
}

// start, end, step, dtype, ...
Tensor& arangeStep(Call& call) {
  return countUp(call, call.dim(0), call.dim(1), call.integer(2), 3);
}

// Zeros above (lower) or below (upper) a diagonal of the last two dims.
template <bool lower>
Tensor& triangle(Call& call) {
  Tensor& x = call.tensor(0);
  const Dim rows = x.getDimensions()[x.rank() - 2], columns = x.getDimensions()[x.rank() - 1];
  Tensor& row = call.reshape(range(call, rows, call.integer(1), 1), Dims{rows, 1});
  Tensor& column = range(call, columns, 0, 1);
  Tensor& kept = call.elementwise(lower ? "less_equal" : "greater_equal", column, row);
  return call.add(LayerType::kSELECT, {&kept, &x, &call.constant(0, x.getType())});
}

}  // namespace

void addFills(NodeConverterRegistry& registry) {
  registry.add(
      "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor",
      one(ofSize<0>));
  registry.add(
      "aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor",
      one(ofSize<1>));
  registry.add(
      "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor",
      one(full));
  registry.add(
      "aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
      one(likeSelf<0>));
  registry.add(
      "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
      one(likeSelf<1>));
  registry.add(
      "aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
      one(fullLike));
  registry.add("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", one(fillScalar));
  registry.add("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", one(fillTensor));
  registry.add(
      "aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor",
      one(newOfSize<0>));
  registry.add(
      "aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? pin_memory=None) -> Tensor",
      one(newOfSize<1>));
  registry.add(
      "aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor",
      one(newFull));
  registry.add(
      "aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor",
      one(arange));
  registry.add(
      "aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor",
      one(arangeFrom));
  registry.add(
      "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
      one(arangeStep));
  registry.add("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor", one(triangle<true>));
  registry.add("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor", one(triangle<false>));
}

}  // namespace torchtrt::conversion::converters
