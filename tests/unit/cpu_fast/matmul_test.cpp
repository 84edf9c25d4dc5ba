// The fast matrix multiplications against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

CompareOptions exact() {
  CompareOptions options;
  options.rtol = 0;
  options.atol = 0;
  return options;
}

std::string dims(int64_t rows, int64_t columns) {
  return "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
}

TEST(PackedGemmMatmul, EveryTailOfRowsAndColumns) {
  for (const int64_t rows : {1, 2, 3, 5, 7, 8, 13, 24}) {
    for (const int64_t columns : {1, 10, 16, 33, 100, 250}) {
      expectMatchesReferenceInBoth(
          "matrix_multiply float32 " + dims(rows, 37) + "x" + dims(37, columns) + "! -> " + dims(rows, columns) + " {}",
          "packed_gemm", exact());
    }
  }
  expectMatchesReferenceInBoth("matrix_multiply float32 [1,2048]x[1000,2048]!x[1000] -> [1,1000] {transpose_b=true}",
                               "packed_gemm", exact());
}

// Depths with and without a divisor that makes equal parts; and rounded sums, too.
TEST(PackedGemmMatmul, DeepProductsAreSummedInParts) {
  for (const int64_t depth : {513, 521, 768, 1000, 3072}) {
    for (const int64_t rows : {1, 2, 7, 20}) {
      const std::string line =
          "matrix_multiply float32 " + dims(rows, depth) + "x" + dims(depth, 50) + "! -> " + dims(rows, 50) + " {}";
      expectMatchesReferenceInBoth(line, "packed_gemm", exact());
      CompareOptions smooth;
      smooth.values = Values::kSmooth;
      smooth.atol = 2e-6;
      expectMatchesReferenceInBoth(line, "packed_gemm", smooth);
    }
  }
}

// A single row adds up in another order where several panels of columns are taken together: which are must not depend
// on how many threads there are.
TEST(PackedGemmMatmul, SingleRowsHaveTheSameBitsOnAnyNumberOfThreads) {
  CompareOptions smooth;
  smooth.values = Values::kSmooth;
  smooth.atol = 2e-6;
  for (const int64_t rows : {1, 9, 17}) {
    for (const int64_t depth : {70, 400}) {
      for (const int64_t columns : {48, 100, 192, 240, 500, 1000}) {
        expectMatchesReferenceInBoth("matrix_multiply float32 " + dims(rows, depth) + "x" + dims(depth, columns) +
                                         "! -> " + dims(rows, columns) + " {}",
                                     "packed_gemm", smooth);
      }
    }
  }
}

TEST(PackedGemmMatmul, BatchBiasResidualActivation) {
  expectMatchesReferenceInBoth(
      "matrix_multiply float32 [3,5,20]x[1,40,20]!x[1,40]x[3,5,40] -> [3,5,40] {activation=\"relu\", transpose_b=true}",
      "packed_gemm", exact());
  CompareOptions close;
  expectMatchesReferenceInBoth("matrix_multiply float32 [9,20]x[20,50]!x[50] -> [9,50] {activation=\"gelu_erf\"}",
                               "packed_gemm", close);
}

TEST(PackedGemmMatmul, OneKernelRunsManyShapes) {
  CompareOptions options = exact();
  for (const char* rows : {"1", "17", "0", "64"}) {
    options.shapes.push_back("matrix_multiply float32 [" + std::string(rows) + ",30]x[30,70]! -> [" + rows + ",70] {}");
  }
  expectMatchesReferenceInBoth("matrix_multiply float32 [?4,30]x[30,70]! -> [?4,70] {}", "packed_gemm", options);
}

TEST(PackedGemmMatmul, SaysWhatItCannotDo) {
  expectRefused("matrix_multiply float32 [4,30]x[30,70] -> [4,70] {}", "packed_gemm", "dynamic-weights");
  expectRefused("matrix_multiply float32 [2,4,30]x[2,30,70]! -> [2,4,70] {}", "packed_gemm", "batch");
  expectRefused("matrix_multiply float32 [30,4]x[30,70]! -> [4,70] {transpose_a=true}", "packed_gemm", "transpose");
  expectRefused("matrix_multiply float32 [4,30]x[30,70]!x[4,70] -> [4,70] {}", "packed_gemm", "bias-shape");
}

TEST(RunTimeMatmul, BatchesAndTransposedOperands) {
  for (const char* operands :
       {"[64,96]x[96,48]x[48] -> [64,48] {}", "[5,33]x[17,33] -> [5,17] {transpose_b=true}",
        "[33,9]x[17,33] -> [9,17] {transpose_a=true, transpose_b=true}", "[33,21]x[33,5] -> [21,5] {transpose_a=true}",
        "[2,3,8,16]x[2,3,16,20] -> [2,3,8,20] {}", "[2,3,8,16]x[16,20] -> [2,3,8,20] {}",
        "[2,3,16,8]x[1,3,16,20] -> [2,3,8,20] {transpose_a=true}", "[8,16]x[4,16,20] -> [4,8,20] {}",
        "[8,1,16]x[16,20] -> [8,1,20] {}", "[300,40]x[40,200] -> [300,200] {}", "[1,16]x[16,20] -> [1,20] {}",
        "[3,37]x[50,37]x[50]x[3,50] -> [3,50] {activation=\"relu\", transpose_b=true}",
        "[9,20]x[20,50]x[1,50]x[9,50] -> [9,50] {activation=\"relu\"}"}) {
    expectMatchesReference("matrix_multiply float64 " + std::string(operands), "run_time", exact());
    expectMatchesReference("matrix_multiply float32 " + std::string(operands), "run_time", exact());
  }
}

TEST(RunTimeMatmul, OneKernelRunsManyShapes) {
  CompareOptions options = exact();
  options.shapes = {"matrix_multiply float64 [1,3,24]x[1,24,3] -> [1,3,3] {}",
                    "matrix_multiply float64 [4,9,24]x[4,24,9] -> [4,9,9] {}",
                    "matrix_multiply float64 [0,9,24]x[0,24,9] -> [0,9,9] {}",
                    "matrix_multiply float64 [2,9,0]x[2,0,9] -> [2,9,9] {}"};
  expectMatchesReference("matrix_multiply float64 [?2,?7,?24]x[?2,?24,?7] -> [?2,?7,?7] {}", "run_time", options);
}

TEST(RunTimeMatmul, SaysWhatItCannotDo) {
  for (const char* operands : {"[64,64]x[64,64] -> [64,64]", "[10,300]x[300,10] -> [10,10]", "[3,8]x[8,8] -> [3,8]",
                               "[?9,8]x[8,8] -> [?9,8]", "[2,9,8]x[2,8,8]! -> [2,9,8]"}) {
    expectRefused("matrix_multiply float32 " + std::string(operands) + " {}", "run_time", "slower");
  }
  expectRefused("matrix_multiply int64 [4,30]x[30,70] -> [4,70] {}", "run_time", "dtype");
  expectRefused("matrix_multiply float64 [4,30]x[30,70]x[4,70] -> [4,70] {}", "run_time", "bias-shape");
  expectRefused("matrix_multiply float64 [4,30]x[30,70]xnullx[70] -> [4,70] {}", "run_time", "residual-shape");
}

#ifndef TORCHTRT_NO_ONEDNN
TEST(OneDnnMatmul, ConstantAndDynamicOperands) {
  for (const char* constant : {"", "!"}) {
    const std::string b = constant;
    expectMatchesReference("matrix_multiply float32 [64,96]x[96,48]" + b + "x[48] -> [64,48] {}", "onednn", exact());
    expectMatchesReference("matrix_multiply float32 [5,33]x[17,33]" + b + " -> [5,17] {transpose_b=true}", "onednn",
                           exact());
    expectMatchesReference(
        "matrix_multiply float32 [33,5]x[17,33]" + b + " -> [5,17] {transpose_a=true, transpose_b=true}", "onednn",
        exact());
    expectMatchesReference("matrix_multiply float32 [2,3,8,16]x[2,3,16,20]" + b + " -> [2,3,8,20] {}", "onednn",
                           exact());
    expectMatchesReference("matrix_multiply float32 [2,3,8,16]x[16,20]" + b + " -> [2,3,8,20] {}", "onednn", exact());
    expectMatchesReference("matrix_multiply float32 [8,16]x[4,16,20]" + b + " -> [4,8,20] {}", "onednn", exact());
  }
}

TEST(OneDnnMatmul, ResidualAndActivations) {
  for (const char* activation :
       {"", "activation=\"relu\"", "activation=\"clip\", activation_alpha=0.0, activation_beta=1.0"}) {
    expectMatchesReference(
        "matrix_multiply float32 [20,30]x[30,40]!x[40]x[20,40] -> [20,40] {" + std::string(activation) + "}", "onednn",
        exact());
  }
  expectMatchesReference("matrix_multiply float32 [20,30]x[30,40]!x[40] -> [20,40] {activation=\"gelu_tanh\"}",
                         "onednn", {});
}

// addmm and baddbmm add a matrix, or many of them.
TEST(OneDnnMatmul, BiasOfTheProductsShape) {
  for (const char* bias : {"[20,40]", "[1,1]", "[1]", "[1,40]"}) {
    for (const char* b : {"[30,40]", "[30,40]!"}) {
      expectMatchesReference(
          "matrix_multiply float32 [20,30]x" + std::string(b) + "x" + bias + " -> [20,40] {activation=\"relu\"}",
          "onednn", exact());
    }
  }
  expectMatchesReference("matrix_multiply float32 [3,8,16]x[3,16,20]x[3,8,20] -> [3,8,20] {}", "onednn", exact());
  expectRefused("matrix_multiply float32 [20,30]x[30,40]x[20,1] -> [20,40] {}", "onednn", "bias-shape");
  CompareOptions options = exact();
  options.shapes = {"matrix_multiply float32 [?5,30]x[30,40]x[?5,40] -> [?5,40] {}",
                    "matrix_multiply float32 [?0,30]x[30,40]x[?0,40] -> [?0,40] {}"};
  expectMatchesReference("matrix_multiply float32 [?20,30]x[30,40]x[?20,40] -> [?20,40] {}", "onednn", options);
  expectRefused("matrix_multiply float32 [4,30]x[30,70]x[4,70]x[4,70] -> [4,70] {}", "onednn", "bias-shape");
}

TEST(OneDnnMatmul, OneKernelRunsManyShapes) {
  CompareOptions options = exact();
  options.shapes = {"matrix_multiply float32 [1,3,24]x[1,24,3] -> [1,3,3] {}",
                    "matrix_multiply float32 [4,9,24]x[4,24,9] -> [4,9,9] {}",
                    "matrix_multiply float32 [0,9,24]x[0,24,9] -> [0,9,9] {}",
                    "matrix_multiply float32 [2,9,0]x[2,0,9] -> [2,9,9] {}"};
  expectMatchesReference("matrix_multiply float32 [?2,?7,?24]x[?2,?24,?7] -> [?2,?7,?7] {}", "onednn", options);
}
#endif

}  // namespace
}  // namespace torchtrt::kernels
