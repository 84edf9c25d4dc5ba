// Products of few rows with columns of weights that lie dense, also as convolutions of one place.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {
namespace {

Tensor valuesOf(DType dtype, const Ints& dims, uint32_t seed) {
  return makeTensor(dtype, dims, mixedValues(countOf(dims), dtype, seed));
}

Case product(DType dtype, const Ints& rows, int64_t depth, int64_t columns, const char* activation, bool has_bias) {
  Ints x = rows, out = rows;
  x.push_back(depth);
  out.push_back(columns);
  Case layer = {"matrix_multiply",
                makeAttributes({{"transpose_b", true}, {"activation", std::string(activation)}}),
                {valuesOf(dtype, x, 1), valuesOf(dtype, {columns, depth}, 2), std::nullopt},
                {{dtype, out}}};
  if (has_bias) {
    layer.inputs[2] = valuesOf(dtype, {columns}, 3);
  }
  return layer;
}

Case onePlace(DType dtype, int64_t images, int64_t depth, int64_t channels, const char* activation) {
  return {"convolution",
          makeAttributes({{"stride", Ints{1, 1}},
                          {"pre_padding", Ints{0, 0}},
                          {"post_padding", Ints{0, 0}},
                          {"dilation", Ints{1, 1}},
                          {"activation", std::string(activation)}}),
          {valuesOf(dtype, {images, depth, 1, 1}, 1), valuesOf(dtype, {channels, depth, 1, 1}, 2),
           valuesOf(dtype, {channels}, 3)},
          {{dtype, {images, channels, 1, 1}}}};
}

TEST(FewRows, OfEveryDtypeAndDepth) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t depth : {7, 8, 24, 264}) {
      expectAsOnCpu(product(dtype, {1}, depth, 5, "", true));
      expectAsOnCpu(product(dtype, {4}, depth, 9, "relu", true));
      expectAsOnCpu(product(dtype, {2, 2}, depth, 4, "", false));
    }
  }
}

TEST(FewRows, InGroups) {
  for (const int64_t rows : {3, 5, 32, 63, 64, 65}) {
    expectAsOnCpu(product(DType::kFloat16, {rows}, 16, 12, "silu", true));
    expectAsOnCpu(onePlace(DType::kFloat16, rows, 16, 12, "hard_sigmoid"));
  }
}

TEST(FewRows, AsConvolutionsOfOnePlace) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (const char* activation : {"", "relu", "hard_swish"}) {
      expectAsOnCpu(onePlace(dtype, 1, 24, 10, activation));
      expectAsOnCpu(onePlace(dtype, 4, 40, 3, activation));
      expectAsOnCpu(onePlace(dtype, 9, 6, 5, activation));
      expectAsOnCpu(onePlace(dtype, 32, 20, 12, activation));
    }
  }
}

// The bias of each row, and a residual, are no bias of columns.
TEST(FewRows, NotWhereMoreIsAdded) {
  Case layer = product(DType::kFloat16, {2}, 16, 3, "", false);
  layer.inputs[2] = valuesOf(DType::kFloat16, {2, 1}, 3);
  expectAsOnCpu(layer);
  layer.inputs[2] = valuesOf(DType::kFloat16, {3}, 3);
  layer.inputs.push_back(valuesOf(DType::kFloat16, {2, 3}, 4));
  expectAsOnCpu(layer);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
