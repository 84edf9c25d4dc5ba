// Steps and their products by hand-made numbers: scales are powers of two, so that every expected value is exact.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr DType kStepTypes[] = {DType::kInt8, DType::kUInt8};

Case quantize(const Values& x, DType to, double scale, int64_t zero_point, int64_t low, int64_t high) {
  const Ints dims = {1, 2, static_cast<int64_t>(x.size()) / 2};
  return {"quantize",
          makeAttributes({{"to", to}, {"scale", scale}, {"zero_point", zero_point}, {"low", low}, {"high", high}}),
          {makeTensor(DType::kFloat32, dims, x)},
          {{to, dims}}};
}

TEST(Quantize, RoundsHalfToEvenAndKeepsWithinItsLimits) {
  const Values x = {0, 0.25, 0.75, 1.25, -0.25, -0.75, 100, -100, kInfinity, -kInfinity, kNaN, 0.3};
  expectOutputs(quantize(x, DType::kInt8, 0.5, 0, -127, 127), {{0, 0, 2, 2, 0, -2, 127, -127, 127, -127, -127, 1}});
  expectOutputs(quantize(x, DType::kUInt8, 0.5, 3, 0, 255), {{3, 3, 5, 5, 3, 1, 203, 0, 255, 0, 0, 4}});
  expectOutputs(quantize(x, DType::kUInt8, 0.5, 3, 3, 10), {{3, 3, 5, 5, 3, 3, 10, 3, 10, 3, 3, 4}});
}

TEST(Quantize, MultipliesByTheRoundedReciprocal) {
  // 1 / 3 in float32 is above a third: 4.5 of them are a tie only for the division.
  const float reciprocal = 1.0F / 3.0F;
  const float x = 13.5F;
  expectOutputs(quantize({x, -x}, DType::kInt8, 3, 0, -128, 127),
                {{std::nearbyint(x * reciprocal), -std::nearbyint(x * reciprocal)}});
}

TEST(Quantize, OfTheLargestNumbers) {
  const double most = std::numeric_limits<float>::max();
  const double least = std::numeric_limits<float>::min();
  expectOutputs(quantize({most, -most, least, 0}, DType::kInt8, least, 5, -128, 127), {{127, -128, 6, 5}});
  expectOutputs(quantize({most, -most, least, 0}, DType::kInt8, most, 5, -128, 127), {{6, 4, 5, 5}});
}

TEST(Dequantize, ScalesTheDistanceFromZero) {
  for (const DType dtype : kStepTypes) {
    const bool is_signed = dtype == DType::kInt8;
    const Values steps = is_signed ? Values{-128, -1, 0, 127} : Values{0, 127, 128, 255};
    const double zero_point = is_signed ? -1 : 128;
    Values expected;
    for (const double step : steps) {
      expected.push_back((step - zero_point) / 4);
    }
    expectOutputs({"dequantize",
                   makeAttributes({{"scale", 0.25}, {"zero_point", static_cast<int64_t>(zero_point)}}),
                   {makeTensor(dtype, {2, 1, 2}, steps)},
                   {{DType::kFloat32, {2, 1, 2}}}},
                  {expected});
  }
}

TEST(QuantizeAndDequantize, OfNothing) {
  expectOutputs(quantize({}, DType::kUInt8, 1, 0, 0, 255), {{}});
  expectOutputs({"dequantize",
                 makeAttributes({{"scale", 1.0}, {"zero_point", int64_t{0}}}),
                 {makeTensor(DType::kInt8, {0, 4}, {})},
                 {{DType::kFloat32, {0, 4}}}},
                {{}});
}

// The arithmetic after an int32 sum, as the layer table words it.
struct After {
  DType to = DType::kFloat32;
  double output_scale = 1;
  int64_t output_zero_point = 0, low = 0, high = 0;
  double residual_scale = 1;
  int64_t residual_zero_point = 0;
  const char* activation = "";
  double alpha = 0, beta = 0;
};

void setAfter(Attributes& attributes, const After& after, int64_t zero_point) {
  attributes.set("zero_point", zero_point);
  attributes.set("to", after.to);
  attributes.set("output_scale", after.output_scale);
  attributes.set("output_zero_point", after.output_zero_point);
  attributes.set("low", after.low);
  attributes.set("high", after.high);
  attributes.set("residual_scale", after.residual_scale);
  attributes.set("residual_zero_point", after.residual_zero_point);
  attributes.set("activation", std::string(after.activation));
  attributes.set("activation_alpha", after.alpha);
  attributes.set("activation_beta", after.beta);
}

Tensor floats(const Values& values) {
  return makeTensor(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
}

struct Product {
  Tensor input;
  int64_t zero_point = 0;
  Tensor kernel;
  Values scale;
  std::optional<Values> bias;
  std::optional<Tensor> residual;

  std::vector<std::optional<Tensor>> operands() const {
    return {input, kernel, floats(scale), bias ? std::optional(floats(*bias)) : std::nullopt, residual};
  }
};

struct Windows {
  Ints stride, padding, dilation;
  int64_t groups = 1;
};

Case convolution(const Product& product, const Windows& windows, const Ints& out, const After& after = {}) {
  Attributes attributes = makeAttributes({{"stride", windows.stride},
                                          {"pre_padding", windows.padding},
                                          {"post_padding", windows.padding},
                                          {"dilation", windows.dilation},
                                          {"groups", windows.groups}});
  setAfter(attributes, after, product.zero_point);
  return {"quantized_convolution", attributes, product.operands(), {{after.to, out}}};
}

Case matmul(const Product& product, const After& after = {}) {
  Attributes attributes;
  setAfter(attributes, after, product.zero_point);
  Ints out = product.input.desc.dims;
  out.back() = product.kernel.desc.dims[1];
  return {"quantized_matrix_multiply", attributes, product.operands(), {{after.to, out}}};
}

Tensor int8s(const Ints& dims, const Values& values) {
  return makeTensor(DType::kInt8, dims, values);
}
Tensor uint8s(const Ints& dims, const Values& values) {
  return makeTensor(DType::kUInt8, dims, values);
}

const Windows kLine = {{1}, {1}, {1}};

// Steps 10 20 30 about a zero point of 10, by 1 2 3: the padding is the zero point, so it adds nothing.
Product line() {
  return {uint8s({1, 1, 3}, {10, 20, 30}), 10, int8s({2, 1, 3}, {1, 2, 3, -1, -2, -3}), {0.5, 0.25}, {}, {}};
}

TEST(QuantizedConvolution, PadsWithTheZeroPoint) {
  // Sums: 30 80 50 and their negatives.
  expectOutputs(convolution(line(), kLine, {1, 2, 3}), {{15, 40, 25, -7.5, -20, -12.5}});
  Product with_signs = line();
  with_signs.input = int8s({1, 1, 3}, {-5, 5, 15});
  with_signs.zero_point = -5;
  expectOutputs(convolution(with_signs, kLine, {1, 2, 3}), {{15, 40, 25, -7.5, -20, -12.5}});
}

TEST(QuantizedConvolution, AddsBiasThenResidualThenActivates) {
  Product product = line();
  product.bias = Values{1, 2};
  expectOutputs(convolution(product, kLine, {1, 2, 3}), {{16, 41, 26, -5.5, -18, -10.5}});
  After after = {.residual_scale = 0.5, .residual_zero_point = 100, .activation = "relu"};
  for (const DType dtype : {DType::kFloat32, DType::kInt8, DType::kUInt8}) {
    const Values steps = {101, 99, 100, 112, 120, 127};
    Values residual = steps;
    for (double& value : residual) {
      value = dtype == DType::kFloat32 ? (value - 100) / 2 : value;  // 0.5 -0.5 0 6 10 13.5
    }
    product.residual = makeTensor(dtype, {1, 2, 3}, residual);
    expectOutputs(convolution(product, kLine, {1, 2, 3}, after), {{16.5, 40.5, 26, 0.5, 0, 3}});
  }
}

TEST(QuantizedConvolution, MakesSteps) {
  Product product = line();
  product.bias = Values{1, 2};  // 16 41 26, -5.5 -18 -10.5
  expectOutputs(
      convolution(product, kLine, {1, 2, 3}, {.to = DType::kInt8, .output_scale = 1, .low = -128, .high = 127}),
      {{16, 41, 26, -6, -18, -10}});
  expectOutputs(convolution(product, kLine, {1, 2, 3},
                            {.to = DType::kUInt8, .output_scale = 4, .output_zero_point = 3, .low = 0, .high = 10}),
                {{7, 10, 9, 2, 0, 0}});  // 4, 10.25, 6.5 (even: 6), -1.375, -4.5, -2.625 (-3)
  // The activation comes first: clipped at 20, then steps.
  expectOutputs(convolution(product, kLine, {1, 2, 3},
                            {.to = DType::kUInt8,
                             .output_scale = 0.5,
                             .output_zero_point = 8,
                             .low = 0,
                             .high = 255,
                             .activation = "clip",
                             .alpha = -2,
                             .beta = 20}),
                {{40, 48, 48, 4, 4, 4}});
}

TEST(QuantizedConvolution, OfNaNIsTheLowestStep) {
  Product product = line();
  product.bias = Values{kNaN, 2};
  expectOutputs(convolution(product, kLine, {1, 2, 3}), {{kNaN, kNaN, kNaN, -5.5, -18, -10.5}});
  expectOutputs(
      convolution(product, kLine, {1, 2, 3}, {.to = DType::kInt8, .low = -127, .high = 127, .activation = "relu"}),
      {{-127, -127, -127, 0, 0, 0}});
}

TEST(QuantizedConvolution, TakesGroupsStridesAndDilations) {
  const Product product = {uint8s({1, 2, 2, 5}, iota(20)), 0, int8s({2, 1, 1, 2}, {1, -1, 100, 1}), {1, 1}, {}, {}};
  // Columns 0 2 and 2 4 of rows 0 and 1: differences of 2, and sums with 100.
  expectOutputs(convolution(product, {{1, 2}, {0, 0}, {1, 2}, 2}, {1, 2, 2, 2}),
                {{-2, -2, -2, -2, 1012, 1214, 1517, 1719}});
}

TEST(QuantizedConvolution, InVolumes) {
  Product product = {
      int8s({1, 2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, -128}), 1, int8s({1, 2, 2, 1, 1}, {1, 1, 1, -128}), {2}, {}, {}};
  // Less 1: 0 1 | 2 3 and 4 5 | 6 -129; column 0: 0 + 2 + 4 - 768, column 1: 1 + 3 + 5 + 16512.
  expectOutputs(convolution(product, {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}}, {1, 1, 1, 1, 2}), {{-1524, 33042}});
}

TEST(QuantizedConvolution, SumsTheLargestStepsExactly) {
  constexpr int64_t kChannels = 1031;
  const Product product = {uint8s({1, kChannels, 1}, Values(kChannels, 255)),
                           0,
                           int8s({2, kChannels, 1},
                                 [] {
                                   Values kernel(2 * kChannels, 127);
                                   std::fill(kernel.begin() + kChannels, kernel.end(), -128);
                                   return kernel;
                                 }()),
                           {1, 1},
                           {},
                           {}};
  const auto rounded = [](int64_t sum) { return static_cast<double>(static_cast<float>(sum)); };
  const Case layer = convolution(product, {{1}, {0}, {1}}, {1, 2, 1});
  EXPECT_EQ(runOne(layer), (Values{rounded(kChannels * 255 * 127), rounded(kChannels * 255 * -128)}));
}

TEST(QuantizedConvolution, OfNothing) {
  const Product no_batch = {uint8s({0, 1, 3}, {}), 0, int8s({1, 1, 3}, {1, 2, 3}), {1}, {}, {}};
  expectOutputs(convolution(no_batch, kLine, {0, 1, 3}), {{}});
  const Product no_channels = {uint8s({1, 0, 3}, {}), 0, int8s({1, 0, 3}, {}), {1}, Values{4}, {}};
  expectOutputs(convolution(no_channels, kLine, {1, 1, 3}), {{4, 4, 4}});
}

TEST(QuantizedMatrixMultiply, ScalesEachColumn) {
  // Less 2: [[-1 0], [1 2]] by [[1 2 3], [4 5 6]]: -1 -2 -3, 9 12 15.
  Product product = {uint8s({2, 2}, {1, 2, 3, 4}), 2, int8s({2, 3}, {1, 2, 3, 4, 5, 6}), {1, 0.5, 2}, {}, {}};
  expectOutputs(matmul(product), {{-1, -1, -6, 9, 6, 30}});
  product.bias = Values{10, 20, 30};
  product.residual = int8s({2, 3}, {1, 2, 3, -1, -2, -3});
  After after = {.residual_scale = 2, .residual_zero_point = 1};  // 0 2 4, -4 -6 -8
  expectOutputs(matmul(product, after), {{9, 21, 28, 15, 20, 52}});
  after.to = DType::kInt8;
  after.output_scale = 2;
  after.output_zero_point = -1;
  after.low = -127;
  after.high = 20;
  expectOutputs(matmul(product, after), {{3, 9, 13, 7, 9, 20}});  // 4.5 (4), 10.5 (10), 14, 7.5 (8), 10, 26 less 1
}

TEST(QuantizedMatrixMultiply, TakesManyLeadingDims) {
  const Product product = {
      int8s({2, 1, 2, 2}, {1, 0, 0, 1, 2, 0, 0, -2}), 0, int8s({2, 2}, {1, 2, 3, 4}), {1, 1}, {}, {}};
  expectOutputs(matmul(product), {{1, 2, 3, 4, 2, 4, -6, -8}});
}

TEST(QuantizedMatrixMultiply, OfNothing) {
  expectOutputs(matmul({int8s({0, 2}, {}), 0, int8s({2, 1}, {1, 2}), {1}, {}, {}}), {{}});
  expectOutputs(matmul({int8s({2, 0}, {}), 0, int8s({0, 1}, {}), {1}, Values{3}, {}}), {{3, 3}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
