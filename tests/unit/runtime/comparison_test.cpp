#include "runtime/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace torchtrt::runtime {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::string difference(const c10::IValue& expected, const c10::IValue& got) {
  return firstDifference(expected, got).value_or("");
}

TEST(FirstDifference, AllowsTheToleranceOfTheDtype) {
  for (const auto& [type, tolerance] :
       {std::pair(at::kFloat, 1e-4), std::pair(at::kDouble, 1e-7), std::pair(at::kHalf, 2e-2)}) {
    const at::Tensor expected = at::tensor({1.0, -4.0}, at::kDouble);
    const at::Tensor within = expected + 4 * tolerance * 0.9;
    const at::Tensor beyond = expected + 4 * tolerance * 1.5;
    EXPECT_EQ(difference(expected.to(type), within.to(type)), "") << c10::toString(type);
    EXPECT_THAT(difference(expected.to(type), beyond.to(type)), HasSubstr("largest difference")) << c10::toString(type);
  }
}

TEST(FirstDifference, WantsNanAndInfinityInTheSamePlaces) {
  const at::Tensor expected = at::tensor({1.0F, kNan, kInf});
  EXPECT_EQ(difference(expected, expected.clone()), "");
  for (const at::Tensor& got : {at::tensor({1.0F, kNan, -kInf}), at::tensor({1.0F, kInf, kInf}),
                                at::tensor({kNan, kNan, kInf}), at::tensor({1.0F, 0.0F, kInf})}) {
    EXPECT_THAT(difference(expected, got), HasSubstr("NaN or infinity"));
  }
}

TEST(FirstDifference, WantsShapesDtypesAndIntegersExact) {
  const at::Tensor expected = at::arange(4);
  EXPECT_EQ(difference(expected, at::arange(4)), "");
  EXPECT_THAT(difference(expected, at::arange(4).view({2, 2})), HasSubstr("[2, 2]"));
  EXPECT_THAT(difference(expected, at::arange(4, at::kInt)), HasSubstr("Int"));
  EXPECT_THAT(difference(expected, at::arange(4) + (at::arange(4) == 3)), HasSubstr("integer"));
}

TEST(FirstDifference, EmptyTensorsAreEqual) {
  EXPECT_EQ(difference(at::zeros({0, 3}), at::zeros({0, 3})), "");
}

TEST(FirstDifference, LooksIntoCollections) {
  const at::Tensor x = at::ones({2});
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("a", x);
  c10::Dict<std::string, at::Tensor> other;
  other.insert("a", x + 1);
  EXPECT_EQ(difference(dict, dict), "");
  EXPECT_THAT(difference(dict, other), HasSubstr("key a: "));
  EXPECT_THAT(difference(std::make_tuple(x, x), std::make_tuple(x, x + 1)), HasSubstr("value 1: "));
  EXPECT_THAT(difference(c10::List<at::Tensor>({x}), c10::List<at::Tensor>({x, x})),
              HasSubstr("expected 1 values, got 2"));
  EXPECT_THAT(difference(x, c10::IValue(3)), HasSubstr("expected a Tensor, got a Int"));
  EXPECT_EQ(difference(c10::IValue(3), c10::IValue(3)), "");
  EXPECT_THAT(difference(c10::IValue(3), c10::IValue(4)), HasSubstr("values differ"));
}

// Results in bfloat16 of largest value 4, so 0.08 may be between them.
TEST(FirstDifference, IsExcusedWhereFloat64LiesBetween) {
  const auto with_first = [](double first) { return at::tensor({first, -4.0}, at::kDouble); };
  const auto difference_with = [&](double expected, double got, const c10::IValue& exact) {
    return firstDifference(with_first(expected).to(at::kBFloat16), with_first(got).to(at::kBFloat16), at::kDouble,
                           exact)
        .value_or("");
  };
  EXPECT_THAT(difference_with(1, 1.125, {}), HasSubstr("largest difference"));
  EXPECT_EQ(difference_with(1, 1.125, with_first(1.0625)), "") << "both are as far from it";
  EXPECT_EQ(difference_with(1, 1.125, with_first(1.055)), "") << "1.3 times as far";
  EXPECT_THAT(difference_with(1, 1.125, with_first(1.03)), HasSubstr("largest difference")) << "three times as far";
  EXPECT_THAT(difference_with(1, 1.125, with_first(1)), HasSubstr("largest difference"));
  EXPECT_EQ(difference_with(1, 1.125, with_first(2)), "") << "PyTorch is further off itself";
  EXPECT_THAT(difference_with(1, 2, with_first(1.5)), HasSubstr("largest difference")) << "too far apart to be excused";
  EXPECT_EQ(difference_with(1, 2, with_first(1.9)), "") << "PyTorch alone is far off";
  EXPECT_THAT(difference_with(1, 2, with_first(1.52)), HasSubstr("largest difference")) << "0.92 times as far";
  EXPECT_THAT(difference_with(1, 1.125, with_first(std::numeric_limits<double>::quiet_NaN())),
              HasSubstr("largest difference"));
  EXPECT_THAT(difference_with(1, 1.125, at::tensor({1.0625}, at::kDouble)), HasSubstr("largest difference"));
  EXPECT_THAT(difference_with(1, 1.125, at::tensor({1, -4})), HasSubstr("largest difference"));
}

TEST(FirstDifference, IsExcusedTensorByTensor) {
  const at::Tensor x = at::tensor({1.0F, -4.0F});
  const at::Tensor near = at::tensor({1.001F, -4.0F});
  const at::Tensor exact = at::tensor({1.0005, -4.0}, at::kDouble);
  const auto difference_with = [&](const c10::IValue& judge) {
    return firstDifference(std::make_tuple(at::arange(2), x, x), std::make_tuple(at::arange(2), near, near),
                           at::kDouble, judge)
        .value_or("");
  };
  EXPECT_EQ(difference_with(std::make_tuple(at::arange(2), exact, exact)), "");
  EXPECT_THAT(difference_with(std::make_tuple(at::arange(2), exact, x)), HasSubstr("value 2: the largest difference"));
  EXPECT_THAT(difference_with(std::make_tuple(at::arange(3), at::arange(2), exact)), HasSubstr("value 1: "));
  EXPECT_THAT(firstDifference(std::make_tuple(at::arange(2), x), std::make_tuple(at::arange(2) + 1, near), at::kDouble,
                              std::make_tuple(at::arange(2) + 1, exact))
                  .value_or(""),
              HasSubstr("value 0: integer"));
}

TEST(FirstDifference, OfNumbersIsThatOfFloat32) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(difference(1.0, 1.00001), "");
  EXPECT_EQ(difference(nan, nan), "");
  EXPECT_THAT(difference(1.0, 1.001), HasSubstr("largest difference"));
  EXPECT_THAT(difference(1.0, nan), HasSubstr("NaN or infinity"));
}

TEST(FirstDifference, LooksIntoComplexAndSparseTensors) {
  const at::Tensor parts = at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2});
  const at::Tensor complex = at::view_as_complex(parts);
  EXPECT_EQ(difference(complex, complex * 1.00001), "");
  EXPECT_EQ(difference(complex.conj(), complex.conj().resolve_conj()), "");
  EXPECT_THAT(difference(complex, complex.conj()), HasSubstr("largest difference"));
  EXPECT_EQ(difference(parts.to_sparse(), (parts * 1.00001).to_sparse()), "");
  EXPECT_THAT(difference(parts.to_sparse(), (parts * 2).to_sparse()), HasSubstr("largest difference"));
  EXPECT_THAT(difference(parts, parts.to_sparse()), HasSubstr("Sparse"));
}

TEST(Deviation, TakesTensorsThatAreNegatedWhenRead) {
  const at::Tensor x = at::tensor({1.0F, -2.0F});
  EXPECT_EQ(deviation(at::_neg_view(x), -x).ulps, 0);
}

TEST(Deviation, CountsTheNumbersBetween) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const double epsilon = type == at::kFloat    ? 0x1p-23
                           : type == at::kDouble ? 0x1p-52
                           : type == at::kHalf   ? 0x1p-10
                                                 : 0x1p-7;
    const at::Tensor expected = at::tensor({1.0, -2.0, 0.0}, at::kDouble);
    const at::Tensor got = at::tensor({1.0 + 2 * epsilon, -2.0 - 6 * epsilon, -0.0}, at::kDouble);
    EXPECT_EQ(deviation(expected.to(type), got.to(type)).ulps, 3) << c10::toString(type);
  }
  const at::Tensor one = at::tensor({1.0F, kNan, kInf});
  EXPECT_EQ(deviation(one, at::tensor({1.0F + 3 * std::numeric_limits<float>::epsilon(), kNan, kInf})).ulps, 3);
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(deviation(at::tensor({2 * least}), at::tensor({-least})).ulps, 3);
  const double most = std::numeric_limits<double>::max();
  EXPECT_GT(deviation(at::tensor({most}, at::kDouble), at::tensor({-most}, at::kDouble)).ulps, 1.8e19);
}

TEST(Deviation, IsThatOfTheTensorFurthestFromWhatItIsAllowed) {
  const at::Tensor x = at::tensor({1.0, 2.0}, at::kDouble);
  const auto apart = deviation(std::make_tuple(x.to(at::kHalf), x), std::make_tuple(x.to(at::kHalf) + 0.01, x + 1e-6));
  EXPECT_NEAR(apart.relative, 5e-7, 1e-12);
  EXPECT_EQ(apart.allowed, 1e-7);
  EXPECT_THAT(apart.difference, HasSubstr("value 1: the largest difference"));
  EXPECT_NEAR(apart.ofAllowed(), 5, 1e-6);
}

TEST(Deviation, OfWhatCannotBeComparedIsInfinite) {
  const at::Tensor x = at::ones({2});
  for (const at::Tensor& got : {at::ones({3}), x.to(at::kDouble), at::tensor({1.0F, kNan})}) {
    EXPECT_EQ(deviation(x, got).relative, std::numeric_limits<double>::infinity());
    EXPECT_EQ(deviation(x, got).ofAllowed(), std::numeric_limits<double>::infinity());
  }
  EXPECT_EQ(deviation(at::zeros({2}), x).relative, std::numeric_limits<double>::infinity());
  EXPECT_EQ(deviation(at::zeros({2}), at::zeros({2})).relative, 0);
}

}  // namespace
}  // namespace torchtrt::runtime
