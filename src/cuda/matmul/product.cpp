#include "cuda/matmul/product.h"

#include <utility>

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

Matrices split(Ints strides) {
  Matrices matrices;
  matrices.column = strides.back();
  strides.pop_back();
  matrices.row = strides.back();
  strides.pop_back();
  matrices.batch = std::move(strides);
  return matrices;
}

// Describes operand a or b, whose batch dims are broadcast to the output's.
Matrices operandOf(const TensorDesc& desc, const Ints& batch, bool transposed) {
  Matrices matrices = split(desc.strides);
  const Ints dims(desc.dims.begin(), desc.dims.end() - 2);
  matrices.batch = broadcastStrides({desc.dtype, dims, matrices.batch}, batch);
  if (transposed) {
    std::swap(matrices.row, matrices.column);
  }
  return matrices;
}

}  // namespace

std::vector<Ints> Product::batchStrides() const {
  std::vector<Ints> strides;
  for (const Matrices& each : parts) {
    strides.push_back(each.batch);
  }
  return strides;
}

Product productOf(const Layer& layer, const ShapeSet& shapes) {
  const TensorDesc& out = shapes.outputs.at(0);
  const TensorDesc& a = shapes.inputs.at(Product::kA);
  const bool transposed = layer.attributes.getBool("transpose_a", false);
  Product product;
  product.batch.assign(out.dims.begin(), out.dims.end() - 2);
  product.rows = out.dims[out.dims.size() - 2];
  product.columns = out.dims.back();
  product.depth = a.dims[a.dims.size() - (transposed ? 2 : 1)];
  const auto beside = [&](size_t input) {
    return split(layer.has(input) ? broadcastStrides(shapes.inputs[input], out.dims) : Ints(out.dims.size(), 0));
  };
  product.parts = {
      operandOf(a, product.batch, transposed),
      operandOf(shapes.inputs.at(Product::kB), product.batch, layer.attributes.getBool("transpose_b", false)),
      beside(Product::kBias), beside(Product::kResidual), split(out.strides)};
  return product;
}

Product folded(Product product) {
  for (size_t axis = 0; axis < product.batch.size(); ++axis) {
    if (product.batch[axis] != 1 && product.parts[Product::kB].batch[axis] != 0) {
      return product;
    }
  }
  Ints dims = product.batch;
  dims.push_back(product.rows);
  std::vector<Ints> strides = product.batchStrides();
  for (size_t part = 0; part < Product::kParts; ++part) {
    strides[part].push_back(product.parts[part].row);
  }
  strides[Product::kB].back() = 0;
  const Layout layout = collapsed(dims, strides);
  if (layout.rank() > 1) {
    return product;
  }
  product.batch.clear();
  product.rows = layout.count();
  for (size_t part = 0; part < Product::kParts; ++part) {
    product.parts[part].batch.clear();
    if (part != Product::kB && layout.rank() == 1) {
      product.parts[part].row = layout.strides[part][0];
    }
  }
  return product;
}

}  // namespace torchtrt::cuda
