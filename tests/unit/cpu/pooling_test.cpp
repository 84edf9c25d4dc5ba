#include <gtest/gtest.h>

#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Window {
  Ints window, stride, pre, post, dilation;
};

Case pooling(const std::string& op, const Window& w, Tensor in, const Ints& out) {
  const DType dtype = in.desc.dtype;
  return {"pooling",
          makeAttributes({{"op", op},
                          {"window", w.window},
                          {"stride", w.stride},
                          {"pre_padding", w.pre},
                          {"post_padding", w.post},
                          {"dilation", w.dilation}}),
          {std::move(in)},
          {{dtype, out}}};
}

TEST(Pooling, MaximumOfEveryType) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    const Case layer = pooling("max", {{2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
                               makeTensor(dtype, {1, 2, 2, 4}, iota(16)), {1, 2, 1, 2});
    expectOutputs(layer, {{5, 7, 13, 15}});
  }
  // Padding is never the maximum.
  expectOutputs(pooling("max", {{3}, {2}, {1}, {1}, {1}}, makeTensor(DType::kInt8, {1, 1, 3}, {-5, -7, -9}), {1, 1, 2}),
                {{-5, -7}});
}

TEST(Pooling, MaximumPropagatesNan) {
  expectOutputs(
      pooling("max", {{2}, {1}, {0}, {0}, {1}}, makeTensor(DType::kFloat32, {1, 1, 4}, {1, kNan, 3, 2}), {1, 1, 3}),
      {{kNan, kNan, 3}});
}

TEST(Pooling, IndicesPointIntoThePlane) {
  Case layer =
      pooling("max", {{2, 2}, {1, 2}, {0, 0}, {0, 0}, {1, 2}},
              makeTensor(DType::kFloat32, {1, 2, 2, 5}, {0, 9, 2, 3, 4, 5, 6, 9, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
              {1, 2, 1, 2});
  layer.attributes.set("return_indices", true);
  layer.outputs.push_back({DType::kInt64, {1, 2, 1, 2}});
  // Windows take columns 0 and 2, then 2 and 4; among equals the first wins.
  expectOutputs(layer, {{9, 9, 1, 1}, {7, 7, 0, 2}});
}

TEST(Pooling, AverageDividesByWhatTheAttributesSay) {
  const Tensor in = makeTensor(DType::kFloat32, {1, 1, 4}, {3, 6, 9, 12});
  Case layer = pooling("average", {{3}, {2}, {1}, {1}, {1}}, in, {1, 1, 2});
  expectOutputs(layer, {{3, 9}});
  layer.attributes.set("count_include_pad", false);
  expectOutputs(layer, {{4.5, 9}});
  layer.attributes.set("divisor", 2);
  expectOutputs(layer, {{4.5, 13.5}});
}

TEST(Pooling, CeilModeCountsOnlyPaddedPositions) {
  // The second window starts at 2 and leaves the padded input after one element.
  Case layer =
      pooling("average", {{3}, {2}, {0}, {0}, {1}}, makeTensor(DType::kFloat64, {1, 1, 4}, {1, 2, 3, 4}), {1, 1, 2});
  layer.attributes.set("ceil_mode", true);
  expectOutputs(layer, {{2, 3.5}});
}

TEST(Pooling, AverageOfOtherTypes) {
  for (const DType dtype : kFloatingDTypes) {
    expectOutputs(pooling("average", {{2, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
                          makeTensor(dtype, {1, 2, 3}, {1, 2, 3, 5, 6, 7}), {1, 1, 2}),
                  {{3.5, 4.5}});
  }
  expectOutputs(
      pooling("average", {{2}, {2}, {0}, {0}, {1}}, makeTensor(DType::kInt64, {1, 4}, {1, 2, -1, -2}), {1, 2}),
      {{1, -1}});
}

TEST(Pooling, ThreeSpatialDims) {
  expectOutputs(pooling("max", {{2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}},
                        makeTensor(DType::kFloat32, {1, 1, 2, 2, 4}, iota(16)), {1, 1, 1, 1, 2}),
                {{13, 15}});
}

TEST(Pooling, EmptyBatch) {
  expectOutputs(pooling("max", {{2}, {2}, {0}, {0}, {1}}, makeTensor(DType::kFloat32, {0, 3, 4}, {}), {0, 3, 2}), {{}});
}

Case adaptive(const std::string& op, Tensor in, const Ints& lead, const Ints& size) {
  const DType dtype = in.desc.dtype;
  Ints out = lead;
  out.insert(out.end(), size.begin(), size.end());
  return {"adaptive_pooling", makeAttributes({{"op", op}}), {std::move(in)}, {{dtype, out}}, {{"output_size", size}}};
}

TEST(AdaptivePooling, WindowsAreUneven) {
  for (const DType dtype : kFloatingDTypes) {
    // Windows of 5 into 3: [0,2), [1,4), [3,5).
    expectOutputs(adaptive("average", makeTensor(dtype, {1, 1, 5}, {1, 2, 3, 4, 6}), {1, 1}, {3}), {{1.5, 3, 5}});
    expectOutputs(adaptive("max", makeTensor(dtype, {1, 1, 5}, {1, 2, 3, 4, 6}), {1, 1}, {3}), {{2, 4, 6}});
  }
  // More outputs than inputs: windows of 2 into 3 are [0,1), [0,2), [1,2).
  expectOutputs(adaptive("average", makeTensor(DType::kFloat32, {1, 2}, {1, 5}), {1}, {3}), {{1, 3, 5}});
  expectOutputs(adaptive("average", makeTensor(DType::kFloat32, {2, 2, 3}, iota(12)), {2}, {1, 1}), {{2.5, 8.5}});
}

TEST(AdaptivePooling, OneAverageOfEachImage) {
  constexpr int64_t kChannels = 5, kHeight = 3, kWidth = 7;
  for (const DType dtype : kFloatingDTypes) {
    const Values in = mixedValues(2 * kChannels * kHeight * kWidth, dtype);
    Values expected;
    for (int64_t image = 0; image < 2 * kChannels; ++image) {
      double sum = 0;
      for (int64_t place = 0; place < kHeight * kWidth; ++place) {
        sum += in[static_cast<size_t>(image * kHeight * kWidth + place)];
      }
      expected.push_back(sum / (kHeight * kWidth));
    }
    expectOutputs(adaptive("average", makeTensor(dtype, {2, kChannels, kHeight, kWidth}, in), {2, kChannels}, {1, 1}),
                  {expected});
  }
}

TEST(AdaptivePooling, MaximumWithIndices) {
  Case layer = adaptive("max", makeTensor(DType::kFloat32, {1, 2, 4}, {1, 8, 3, 4, 5, 6, 9, 2}), {1}, {1, 2});
  layer.outputs.push_back({DType::kInt64, {1, 1, 2}});
  layer.attributes.set("return_indices", true);
  expectOutputs(layer, {{8, 9}, {1, 6}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
