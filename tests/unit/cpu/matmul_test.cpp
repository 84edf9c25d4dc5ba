#include <gtest/gtest.h>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

// Row-major product of [m,k] and [k,n].
Values product(const Values& a, const Values& b, int64_t m, int64_t k, int64_t n) {
  Values out(static_cast<size_t>(m * n), 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t p = 0; p < k; ++p) {
        out[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
      }
    }
  }
  return out;
}

Values transposed(const Values& in, int64_t rows, int64_t columns) {
  Values out(in.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      out[static_cast<size_t>(j * rows + i)] = in[static_cast<size_t>(i * columns + j)];
    }
  }
  return out;
}

TEST(MatrixMultiply, AllTypesAndTransposes) {
  constexpr int64_t kM = 6, kK = 5, kN = 7;
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    const Values a = mixedValues(kM * kK, dtype, 1);
    const Values b = mixedValues(kK * kN, dtype, 2);
    Values expected = product(a, b, kM, kK, kN);
    if (dtype == DType::kInt8 || dtype == DType::kUInt8) {
      for (double& value : expected) {  // sums of 5 products below 64
        value = dtype == DType::kInt8 ? static_cast<int8_t>(static_cast<int>(value))
                                      : static_cast<uint8_t>(static_cast<int>(value));
      }
    }
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        const Case layer = {
            "matrix_multiply",
            makeAttributes({{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}),
            {transpose_a ? makeTensor(dtype, {kK, kM}, transposed(a, kM, kK)) : makeTensor(dtype, {kM, kK}, a),
             transpose_b ? makeTensor(dtype, {kN, kK}, transposed(b, kK, kN)) : makeTensor(dtype, {kK, kN}, b)},
            {{dtype, {kM, kN}}}};
        expectOutputs(layer, {expected});
      }
    }
  }
}

TEST(MatrixMultiply, BatchesBroadcast) {
  // [2,1,1,2] x [3,2,1] -> [2,3,1,1]
  const Case layer = {
      "matrix_multiply",
      {},
      {makeTensor(DType::kFloat32, {2, 1, 1, 2}, {1, 2, 3, 4}), makeTensor(DType::kFloat32, {3, 2, 1}, iota(6))},
      {{DType::kFloat32, {2, 3, 1, 1}}}};
  expectOutputs(layer, {{2, 8, 14, 4, 18, 32}});
}

TEST(MatrixMultiply, BiasResidualAndActivation) {
  Case layer = {"matrix_multiply",
                makeAttributes({{"activation", "relu"}}),
                {makeTensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4}), makeTensor(DType::kFloat32, {2, 2}, {1, 0, 0, 1}),
                 makeTensor(DType::kFloat32, {2}, {10, 20}), makeTensor(DType::kFloat32, {2, 2}, {-20, 0, 5, -100})},
                {{DType::kFloat32, {2, 2}}}};
  expectOutputs(layer, {{0, 22, 18, 0}});
  layer.inputs[2] = std::nullopt;
  expectOutputs(layer, {{0, 2, 8, 0}});
  layer.inputs[2] = makeTensor(DType::kFloat32, {2, 1}, {10, 20});
  layer.inputs.pop_back();
  expectOutputs(layer, {{11, 12, 23, 24}});
}

TEST(MatrixMultiply, AccumulatesHalvesInMoreThanHalfPrecision) {
  // 4096 ones and one 0.5: float16 could not add 1 to 2048, and the sum is rounded once.
  Values ones(4097, 1);
  ones.back() = 0.5;
  const Case layer = {
      "matrix_multiply",
      {},
      {makeTensor(DType::kFloat16, {1, 4097}, ones), makeTensor(DType::kFloat16, {4097, 1}, Values(4097, 1))},
      {{DType::kFloat16, {1, 1}}}};
  EXPECT_EQ(runOne(layer), Values{4096});
}

TEST(MatrixMultiply, EmptyAndLarge) {
  const Case no_terms = {"matrix_multiply",
                         {},
                         {makeTensor(DType::kFloat32, {2, 0}, {}), makeTensor(DType::kFloat32, {0, 3}, {})},
                         {{DType::kFloat32, {2, 3}}}};
  expectOutputs(no_terms, {Values(6, 0)});
  const Case no_rows = {"matrix_multiply",
                        {},
                        {makeTensor(DType::kFloat32, {4, 0, 2}, {}), makeTensor(DType::kFloat32, {2, 3}, iota(6))},
                        {{DType::kFloat32, {4, 0, 3}}}};
  expectOutputs(no_rows, {{}});
  const Values a = mixedValues(9 * 17, DType::kFloat64), b = mixedValues(17 * 600, DType::kFloat64, 2);
  const Case wide = {"matrix_multiply",
                     {},
                     {makeTensor(DType::kFloat64, {9, 17}, a), makeTensor(DType::kFloat64, {17, 600}, b)},
                     {{DType::kFloat64, {9, 600}}}};
  expectOutputs(wide, {product(a, b, 9, 17, 600)});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
