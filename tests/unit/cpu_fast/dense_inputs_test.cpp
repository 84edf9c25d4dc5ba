// Fast kernels on operands that lie otherwise than they read them.
#include "cpu/storage/dense_inputs.h"

#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

TensorDesc desc(std::vector<int64_t> dims, const std::vector<uint8_t>& order) {
  TensorDesc result{DType::kFloat32, std::move(dims), {}};
  result.strides = denseStrides(result.dims, order);
  return result;
}

TEST(DenseInputs, CrosswiseIsWhatHasItsNeighboursAlongAnotherAxis) {
  EXPECT_TRUE(liesCrosswise(desc({1, 64, 56, 56}, {0, 2, 3, 1})));
  EXPECT_TRUE(liesCrosswise(desc({128, 64}, {1, 0})));
  EXPECT_FALSE(liesCrosswise(desc({1, 64, 56, 56}, {})));
  EXPECT_FALSE(liesCrosswise(desc({1, 1, 96, 96}, {0, 2, 3, 1}))) << "of one channel the order is the same";
  EXPECT_FALSE(liesCrosswise(desc({5, 5}, {1, 0}))) << "small";
  EXPECT_FALSE(liesCrosswise(desc({}, {})));
  EXPECT_FALSE(liesCrosswise(desc({64, 0, 64}, {2, 1, 0})));
  EXPECT_FALSE(liesCrosswise({DType::kFloat32, {64, 64}, {128, 2}})) << "every other element of a row";
  EXPECT_FALSE(liesCrosswise({DType::kFloat32, {64, 64}, {1, 0}})) << "one element for a whole row";
}

TEST(DenseInputs, OnlyWhatLiesOtherwiseIsCopied) {
  const auto never = [](const ShapeSet&) -> std::unique_ptr<Prepared> {
    ADD_FAILURE() << "there is nothing to copy";
    return nullptr;
  };
  ShapeSet shapes;
  shapes.inputs = {desc({3, 4}, {}), desc({}, {})};
  shapes.outputs = {desc({3, 4}, {1, 0})};
  EXPECT_EQ(prepareOnDenseInputs(shapes, never), nullptr);
  shapes.inputs.push_back(desc({3, 4}, {1, 0}));
  EXPECT_EQ(prepareOnDenseInputs(shapes,
                                 [](const ShapeSet& dense) -> std::unique_ptr<Prepared> {
                                   EXPECT_EQ(dense.inputs.back().strides, (std::vector<int64_t>{4, 1}));
                                   EXPECT_EQ(dense.outputs.back().strides, (std::vector<int64_t>{1, 3}));
                                   return nullptr;
                                 }),
            nullptr);
}

TEST(DenseInputs, ChannelsLastImagesOfRowMajorResults) {
  CompareOptions smooth;
  smooth.values = Values::kSmooth;
  smooth.atol = 1e-5;
  const std::string images = "[2,20,9,11]@0231";
  expectMatchesReference("softmax float32 " + images + " -> [2,20,9,11] {axis=3, log=false}", "vectors", smooth);
  expectMatchesReference("normalization float32 " + images + "x[11]x[11] -> [2,20,9,11] {eps=1e-05, mode=\"layer\"}",
                         "vectors", smooth);
  expectMatchesReference(
      "normalization float32 " + images + "x[20]x[20] -> [2,20,9,11] {eps=1e-05, groups=4, mode=\"group\"}", "vectors",
      smooth);
  expectMatchesReference("reduce float32 [2,20,9,11]@2031 -> [2,9] {axes=[1,3], keep_dims=false, op=\"sum\"}",
                         "vectors", smooth);
}

}  // namespace
}  // namespace torchtrt::kernels
