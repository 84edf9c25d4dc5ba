#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "conversion/converters/plugin_layer.h"

namespace torchtrt::conversion::converters {
namespace {

Tensor& multiply(const Call& call, Tensor& a, Tensor& b, bool transpose_b = false, Tensor* bias = nullptr) {
  return call.add(LayerType::kMATRIX_MULTIPLY, {&a, &b, bias}, attributes({{"transpose_b", transpose_b}}));
}

// x [...,K] times weight [N,K] transposed, plus bias [N]. A vector is a matrix of one row.
Tensor& linear(Call& call) {
  Tensor& x = call.tensor(0);
  Tensor& weight = call.tensor(1);
  Tensor& rows = x.rank() == 1 ? call.unsqueeze(x, 0) : x;
  Tensor& columns = weight.rank() == 1 ? call.unsqueeze(weight, 0) : weight;
  Tensor* result = &multiply(call, rows, columns, true, call.tensorOrNull(2));
  if (weight.rank() == 1) {
    result = &call.squeeze(*result, result->rank() - 1);
  }
  return x.rank() == 1 ? call.squeeze(*result, 0) : *result;
}

// A vector on the left is a row, on the right a column; the added dimension is dropped again.
Tensor& matmul(Call& call) {
  Tensor& a = call.tensor(0);
  Tensor& b = call.tensor(1);
  Tensor& rows = a.rank() == 1 ? call.unsqueeze(a, 0) : a;
  Tensor& columns = b.rank() == 1 ? call.unsqueeze(b, 1) : b;
  Tensor* result = &multiply(call, rows, columns);
  if (b.rank() == 1) {
    result = &call.squeeze(*result, result->rank() - 1);
  }
  return a.rank() == 1 ? call.squeeze(*result, result->rank() - (b.rank() == 1 ? 1 : 2)) : *result;
}

// The sum of products, in float32 for 16-bit numbers: a pass over the vectors, where a matrix product would bring them
// into panels. Not of lengths that may differ: one of 1 would be broadcast, where PyTorch refuses it.
Tensor& dot(Call& call) {
  const DType dtype = call.tensor(0).getType();
  if (!isFloating(dtype) || !(call.tensor(0).getDimensions() == call.tensor(1).getDimensions())) {
    return matmul(call);
  }
  const DType computed = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  Tensor& product = call.elementwise("prod", call.cast(call.tensor(0), computed), call.cast(call.tensor(1), computed));
  return call.cast(call.reduce("sum", product, {0}, false), dtype);
}

Tensor& timesNumber(const Call& call, Tensor& tensor, const at::Scalar& factor) {
  return factor.equal(1) ? tensor : call.elementwise("prod", tensor, call.constant(factor, tensor.getType()));
}

// True if it is one row for all of the result, or has its shape: a matmul adds that without a step of its own.
bool isBias(const Tensor& self, const Tensor& a, const Tensor& b) {
  const int rank = a.rank();
  bool row = self.rank() > 0 && self.getDimensions()[self.rank() - 1] == b.getDimensions()[rank - 1];
  bool whole = row && self.rank() == rank;
  for (int i = 0; i + 1 < self.rank(); ++i) {
    row = row && self.getDimensions()[i] == Dim(1);
    whole = whole && self.getDimensions()[i] == a.getDimensions()[i];
  }
  return row || whole;
}

// beta * self + alpha * (a x b); with beta 0 self is not looked at, so its NaN do not spread.
Tensor& addProduct(const Call& call, Tensor& a, Tensor& b) {
  const at::Scalar beta = call.number(3), alpha = call.number(4);
  if (beta.equal(0)) {
    return timesNumber(call, multiply(call, a, b), alpha);
  }
  Tensor& self = timesNumber(call, call.tensor(0), beta);
  if (alpha.equal(1) && isBias(self, a, b)) {
    return multiply(call, a, b, false, &self);
  }
  return call.elementwise("sum", self, timesNumber(call, multiply(call, a, b), alpha));
}

Tensor& addmm(Call& call) {
  return addProduct(call, call.tensor(1), call.tensor(2));
}

// The matrix times a vector, as a column.
Tensor& addmv(Call& call) {
  Tensor& column = call.unsqueeze(call.tensor(2), 1);
  const at::Scalar beta = call.number(3), alpha = call.number(4);
  Tensor& product = timesNumber(call, call.squeeze(multiply(call, call.tensor(1), column), 1), alpha);
  return beta.equal(0) ? product : call.elementwise("sum", timesNumber(call, call.tensor(0), beta), product);
}

// self, mat2, offs, bias, out_dtype: the rows of a mixture of experts, those of each expert together. 16 bits are
// computed in float32 and rounded once.
Tensor& groupedProduct(Call& call) {
  Tensor& a = call.tensor(0);
  Tensor& b = call.tensor(1);
  const DType dtype = a.getType();
  if (!isFloating(dtype) || b.getType() != dtype || call.dtype(4, dtype) != dtype || !call.isNone(3)) {
    call.refuse("argument",
                "of other than floating tensors of one dtype, with a bias or with a result of another dtype");
  }
  if (call.isNone(2)) {
    return multiply(call, a, b);
  }
  if (a.rank() != 2 || b.rank() != 3) {
    call.refuse("argument", "groups of other than rows: operands of ranks " + std::to_string(a.rank()) + " and " +
                                std::to_string(b.rank()));
  }
  const DType computed = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  const Layer* layer =
      addPlugin(call, "GroupedProduct", {&call.cast(a, computed), &call.cast(b, computed), &call.tensor(2)}, {});
  return call.cast(*layer->getOutput(0), dtype);
}

}  // namespace

void addMatrixMultiplies(NodeConverterRegistry& registry) {
  registry.add("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", one(linear));
  registry.add("aten::matmul(Tensor self, Tensor other) -> Tensor", one(matmul));
  registry.add(
      "aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) "
      "-> "
      "Tensor",
      one(groupedProduct));
  registry.add("aten::mm(Tensor self, Tensor mat2) -> Tensor", one(matmul));
  registry.add("aten::bmm(Tensor self, Tensor mat2) -> Tensor", one(matmul));
  registry.add("aten::mv(Tensor self, Tensor vec) -> Tensor", one(matmul));
  registry.add("aten::dot(Tensor self, Tensor tensor) -> Tensor", one(dot));
  registry.add("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
               one(addmm));
  registry.add("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
               one(addmm));
  registry.add("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
               one(addmv));
}

}  // namespace torchtrt::conversion::converters
