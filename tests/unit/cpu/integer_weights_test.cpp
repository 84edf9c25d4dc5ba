// Products with integer weights by hand-made numbers: scales are powers of two, so that every expected value is exact.
#include <gtest/gtest.h>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

struct Product {
  DType dtype = DType::kFloat32;
  Ints dims;  // of the operand
  Values input;
  int64_t bits = 8;
  int64_t group_size = 2;
  Ints weight_dims;
  Values weights;
  Values scale;
  std::optional<Values> offset = {};
  std::optional<Values> bias = {};
  std::optional<Values> residual = {};
  std::string activation = "";
};

Case caseOf(const Product& product) {
  Ints out = product.dims;
  out.back() = product.weight_dims[0];
  const int64_t rows = product.weight_dims[0];
  const Ints groups = {rows, rows == 0 ? 1 : static_cast<int64_t>(product.scale.size()) / rows};
  const auto optional = [&](const std::optional<Values>& values, DType dtype, const Ints& dims) {
    return values ? std::optional(makeTensor(dtype, dims, *values)) : std::nullopt;
  };
  return {"integer_weight_matrix_multiply",
          makeAttributes({{"bits", product.bits},
                          {"group_size", product.group_size},
                          {"activation", product.activation},
                          {"activation_alpha", 0.0},
                          {"activation_beta", 0.0}}),
          {makeTensor(product.dtype, product.dims, product.input),
           makeTensor(product.bits == 8 ? DType::kInt8 : DType::kUInt8, product.weight_dims, product.weights),
           makeTensor(DType::kFloat32, groups, product.scale), optional(product.offset, DType::kFloat32, groups),
           optional(product.bias, product.dtype, {rows}), optional(product.residual, product.dtype, out)},
          {{product.dtype, out}}};
}

// Rows 1 2 | 3 4 and -1 -2 | 127 -128 by groups of two.
TEST(IntegerWeights, ScaleEachGroupOfARow) {
  Product product;
  product.dims = {2, 4};
  product.input = {1, 1, 1, 1, 1, 0, 0, 2};
  product.weight_dims = {2, 4};
  product.weights = {1, 2, 3, 4, -1, -2, 127, -128};
  product.scale = {0.5, 2, 1, -1};
  expectOutputs(caseOf(product), {{15.5, -2, 16.5, 255}});
  product.offset = Values{1, 0, 0, 0.25};
  expectOutputs(caseOf(product), {{17.5, -1.5, 17.5, 255.5}});
  product.bias = Values{1, 2};
  product.residual = Values{-20, 0, 0, 1};
  product.activation = "relu";
  expectOutputs(caseOf(product), {{0, 0.5, 18.5, 258.5}});
}

// 0x78 holds -8 and 7, 0xf1 1 and -1: the first in the low half, in two's complement.
TEST(IntegerWeights, OfFourBitsLieTwoInAByte) {
  Product product;
  product.dims = {1, 1, 4};
  product.input = {1, 2, 4, 8};
  product.bits = 4;
  product.weight_dims = {1, 2};
  product.weights = {0x78, 0xf1};
  product.scale = {1, 0.5};
  expectOutputs(caseOf(product), {{6 - 2}});
  product.group_size = 4;
  product.scale = {2};
  expectOutputs(caseOf(product), {{12 - 8}});
}

TEST(IntegerWeights, OfHalfPrecisionRoundOnce) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    Product product;
    product.dtype = dtype;
    product.dims = {1, 2};
    product.input = {256, 1};
    product.weight_dims = {1, 2};
    product.weights = {8, 1};
    product.scale = {1};
    product.bias = Values{-2048};
    expectOutputs(caseOf(product), {{1}});  // 2049 is no number of either
  }
}

TEST(IntegerWeights, OfNothing) {
  Product product;
  product.dims = {0, 2};
  product.weight_dims = {1, 2};
  product.weights = {1, 2};
  product.scale = {1};
  expectOutputs(caseOf(product), {{}});
  product.dims = {2, 2};
  product.input = {1, 2, 3, 4};
  product.weight_dims = {0, 2};
  product.weights = {};
  product.scale = {};
  expectOutputs(caseOf(product), {{}});
  product.input = {};
  product.dims = {2, 0};
  product.weight_dims = {1, 0};
  product.bias = Values{3};
  expectOutputs(caseOf(product), {{3, 3}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
