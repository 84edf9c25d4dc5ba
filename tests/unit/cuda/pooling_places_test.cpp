// Pooling with the places of maxima, with other dims than a batch and channels in front of the windows, and in chunks
// of channels.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case pooling(const char* op, const Tensor& in, const Ints& padding, const Ints& dilation, const Ints& out,
             bool has_places) {
  const DType dtype = in.desc.dtype;
  Case layer = {"pooling",
                makeAttributes({{"op", std::string(op)},
                                {"window", Ints{3, 2}},
                                {"stride", Ints{2, 1}},
                                {"pre_padding", padding},
                                {"post_padding", padding},
                                {"dilation", dilation},
                                {"return_indices", has_places}}),
                {in},
                {{dtype, out}}};
  if (has_places) {
    layer.outputs.push_back({DType::kInt64, out});
  }
  return layer;
}

// Infinities, a NaN and equal numbers are among the values.
Values oddValues(int64_t count, DType dtype) {
  Values values = mixedValues(count, dtype);
  if (isFloating(dtype)) {
    for (size_t i = 0; i < 40; ++i) {
      values[i] = -kInfinity;
    }
    values[50] = values[51] = values[60] = kNan;
    values[70] = values[71] = kInfinity;
  }
  return values;
}

TEST(PlacesOfMaxima, AreThoseOfTheCpu) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
                            DType::kInt64, DType::kUInt8}) {
    const Tensor in = makeTensor(dtype, {2, 3, 7, 6}, oddValues(252, dtype));
    expectAsOnCpu(pooling("max", in, {0, 0}, {1, 1}, {2, 3, 3, 5}, true));
    expectAsOnCpu(pooling("max", in, {1, 1}, {1, 1}, {2, 3, 4, 7}, true));
    expectAsOnCpu(pooling("max", in, {1, 0}, {2, 3}, {2, 3, 3, 3}, true));
    Case adaptive = {"adaptive_pooling",
                     makeAttributes({{"op", std::string("max")}, {"return_indices", true}}),
                     {in},
                     {{dtype, {2, 3, 4, 4}}, {DType::kInt64, {2, 3, 4, 4}}},
                     {{"output_size", {4, 4}}}};
    expectAsOnCpu(adaptive);
  }
}

TEST(PoolingOnDevices, AnyDimsInFront) {
  for (const char* op : {"max", "average"}) {
    for (const Ints& lead : {Ints{}, Ints{3}, Ints{2, 2, 3}, Ints{2, 1, 2, 2}}) {
      Ints dims = lead, out = lead;
      dims.insert(dims.end(), {7, 6});
      out.insert(out.end(), {4, 7});
      const Tensor in = makeTensor(DType::kFloat32, dims, mixedValues(countOf(dims), DType::kFloat32));
      expectAsOnCpu(pooling(op, in, {1, 1}, {1, 1}, out, false));
    }
  }
}

TEST(PoolingOnDevices, AveragesOfIntegersGoTowardsZero) {
  const Tensor in = makeTensor(DType::kInt64, {2, 3, 7, 6}, mixedValues(252, DType::kInt64));
  expectAsOnCpu(pooling("average", in, {0, 0}, {1, 1}, {2, 3, 3, 5}, false));
  expectAsOnCpu(pooling("average", in, {1, 1}, {1, 1}, {2, 3, 4, 7}, false));
}

// 16 channels are read in chunks where they lie next to each other, 12 only where chunks are of 4.
TEST(ChunksOfChannels, ArePooledAsOnTheCpu) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8}) {
    for (const int64_t channels : {16, 12}) {
      const Tensor in = makeTensor(dtype, {2, channels, 7, 6}, oddValues(84 * channels, dtype));
      for (const char* op : {"max", "average"}) {
        expectAsOnCpu(pooling(op, in, {1, 1}, {1, 1}, {2, channels, 4, 7}, false));
      }
      expectAsOnCpu(pooling("max", in, {1, 0}, {2, 3}, {2, channels, 3, 3}, false));
    }
  }
}

TEST(ChunksOfChannels, AreAveragedAsOnTheCpu) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t channels : {5, 8, 72}) {
      for (const Ints& places : {Ints{1, 1}, Ints{7, 6}, Ints{15, 19}, Ints{41, 53}}) {  // blocks share the last one
        const Ints dims = {2, channels, places[0], places[1]};
        expectAsOnCpu({"adaptive_pooling",
                       makeAttributes({{"op", std::string("average")}, {"return_indices", false}}),
                       {makeTensor(dtype, dims, mixedValues(countOf(dims), dtype))},
                       {{dtype, {2, channels, 1, 1}}},
                       {{"output_size", {1, 1}}}});
      }
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
