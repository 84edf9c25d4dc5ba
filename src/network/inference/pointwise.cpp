// Elementwise kinds and matrix multiplication: broadcasting, and operators whose result is a boolean.
#include "base/operations.h"
#include "network/inference/inference.h"
#include "network/rules/checks.h"

namespace torchtrt::network {
namespace {

DType resultOf(std::span<const Operation> operations, const LayerContext& context) {
  const Operation* const operation = findOperation(operations, context.op());
  return operation != nullptr && operation->gives_bool ? DType::kBool : context.dtype(0);
}

}  // namespace

TensorTypes inferUnary(const LayerContext& context) {
  return {{resultOf(unaryOperations(), context), context.dims(0)}};
}

TensorTypes inferElementwise(const LayerContext& context) {
  return {{resultOf(binaryOperations(), context), context.broadcast(context.dims(0), context.dims(1)).dims}};
}

TensorTypes inferSelect(const LayerContext& context) {
  const Dims branches = context.broadcast(context.dims(1), context.dims(2)).dims;
  return {{context.dtype(1), context.broadcast(context.dims(0), branches).dims}};
}

TensorTypes inferCast(const LayerContext& context) {
  return {{context.attributes().getDType("to"), context.dims(0)}};
}

TensorTypes inferMatrixMultiply(const LayerContext& context) {
  const Dims& a = context.dims(0);
  const Dims& b = context.dims(1);
  const auto batch = [](const Dims& dims) { return Dims(std::vector<Dim>(dims.begin(), dims.end() - 2)); };
  std::vector<Dim> dims = context.broadcast(batch(a), batch(b)).dims.vec();
  dims.push_back(a[a.rank() - (context.attributes().getBool("transpose_a") ? 1 : 2)]);
  dims.push_back(b[b.rank() - (context.attributes().getBool("transpose_b") ? 2 : 1)]);
  return {{context.dtype(0), Dims(std::move(dims))}};
}

}  // namespace torchtrt::network
