// Products with integer weights against the reference, over shapes, groups, offsets and rows.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

struct Shape {
  int64_t columns;
  int64_t depth;
  int64_t group_size;
};

std::string dims(int64_t a, int64_t b) {
  return "[" + std::to_string(a) + "," + std::to_string(b) + "]";
}

std::string problem(int64_t rows, int64_t bits, const Shape& shape, bool has_offset, const std::string& after = "",
                    const std::string& activation = "") {
  const std::string scale = dims(shape.columns, shape.depth / shape.group_size);
  const std::string weights =
      bits == 4 ? "uint8 " + dims(shape.columns, shape.depth / 2) : "int8 " + dims(shape.columns, shape.depth);
  return "integer_weight_matrix_multiply float32 " + dims(rows, shape.depth) + "x" + weights + "!xfloat32 " + scale +
         "!x" + (has_offset ? scale + "!" : "null") + after + " -> " + dims(rows, shape.columns) + " {activation=\"" +
         activation + "\", bits=" + std::to_string(bits) + ", group_size=" + std::to_string(shape.group_size) + "}";
}

constexpr Shape kShapes[] = {{64, 64, 32}, {100, 128, 64}, {17, 256, 128}, {1, 32, 32}, {130, 96, 32}, {48, 640, 128}};

TEST(IntegerWeights, OfAnyNumberOfRowsAndGroups) {
  for (const Shape& shape : kShapes) {
    for (const int64_t bits : {4, 8}) {
      for (const bool has_offset : {false, true}) {
        for (int64_t rows = 1; rows <= 33; rows += rows < 14 ? 1 : 6) {
          CompareOptions options;
          options.values = Values::kSmooth;
          expectMatchesReference(problem(rows, bits, shape, has_offset), "panels", options);
        }
      }
    }
  }
}

TEST(IntegerWeights, WithBiasResidualAndActivation) {
  const Shape shape = {70, 128, 64};
  for (const int64_t rows : {1, 5, 40}) {
    for (const int64_t bits : {4, 8}) {
      for (const char* const activation : {"", "relu", "gelu_tanh", "hard_swish"}) {
        expectMatchesReference(problem(rows, bits, shape, true, "x[70]x" + dims(rows, shape.columns), activation),
                               "panels");
        expectMatchesReference(problem(rows, bits, shape, false, "xnullx" + dims(rows, shape.columns), activation),
                               "panels");
      }
    }
  }
}

// A channel has one scale: a group is as long as the depth, and of any length with 8 bits.
TEST(IntegerWeights, WithOneGroupForAllOfTheDepth) {
  for (const int64_t rows : {1, 2, 3, 4, 20}) {
    expectMatchesReference(problem(rows, 8, {33, 1000, 1000}, true), "panels");
    expectMatchesReference(problem(rows, 8, {33, 77, 77}, false), "panels");
    expectMatchesReference(problem(rows, 8, {33, 91, 7}, true), "panels");
    expectMatchesReference(problem(rows, 4, {33, 1000, 1000}, true), "panels");
    expectMatchesReference(problem(rows, 4, {33, 1000, 8}, false), "panels");
  }
}

TEST(IntegerWeights, OfManyShapesWithOneKernel) {
  CompareOptions options;
  for (const int64_t rows : {1, 0, 12, 13, 200}) {
    options.shapes.push_back(problem(rows, 4, {64, 64, 32}, true));
  }
  expectMatchesReference(
      "integer_weight_matrix_multiply float32 [?8,64]xuint8 [64,32]!xfloat32 [64,2]!x[64,2]! -> [?8,64] "
      "{activation=\"\", bits=4, group_size=32}",
      "panels", options);
}

// An infinity or NaN of the operand is in every result of its row, as PyTorch's product has it.
TEST(IntegerWeights, OfValuesThatAreNotFinite) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  options.constants = Values::kExact;
  for (const int64_t rows : {3, 20}) {
    expectMatchesReference(problem(rows, 4, {64, 64, 32}, false), "panels", options);
    expectMatchesReference(problem(rows, 8, {64, 64, 32}, true), "panels", options);
  }
}

TEST(IntegerWeights, LeavesOthersToTheReference) {
  expectRefused(problem(2, 4, {6, 12, 4}, false), "panels", "group-size");
  expectRefused("integer_weight_matrix_multiply float32 [2,8]xint8 [6,8]xfloat32 [6,1] -> [2,6] {bits=8, group_size=8}",
                "panels", "dynamic-weights");
  expectRefused(
      "integer_weight_matrix_multiply float32 [2,8]xint8 [0,8]!xfloat32 [0,1]! -> [2,0] {bits=8, group_size=8}",
      "panels", "empty");
}

TEST(IntegerWeights, AreSafeForThreads) {
  for (const int64_t rows : {2, 40}) {
    expectSafeForThreads(problem(rows, 4, {128, 256, 64}, true), "panels");
  }
}

}  // namespace
}  // namespace torchtrt::kernels
