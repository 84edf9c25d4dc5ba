// Rows of every length: folded by one lane, by some, by a block, and by several blocks.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {
namespace {

Case reduce(const char* op, Tensor in, const Ints& axes) {
  Ints dims;
  for (size_t i = 0; i < in.desc.dims.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
      dims.push_back(in.desc.dims[i]);
    }
  }
  const DType dtype = in.desc.dtype;
  return {"reduce", makeAttributes({{"op", std::string(op)}, {"axes", axes}}), {std::move(in)}, {{dtype, dims}}};
}

Case softmax(Tensor in, int64_t axis, bool log) {
  const Output output = {in.desc.dtype, in.desc.dims};
  return {"softmax", makeAttributes({{"axis", axis}, {"log", log}}), {std::move(in)}, {output}};
}

Case normalization(const char* mode, Tensor in, const std::optional<Tensor>& scale, const std::optional<Tensor>& bias,
                   int64_t groups) {
  const Output output = {in.desc.dtype, in.desc.dims};
  return {
      "normalization",
      makeAttributes({{"mode", std::string(mode)}, {"eps", 1e-5}, {"groups", groups}, {"normalized_rank", int64_t{1}}}),
      {std::move(in), scale, bias, std::nullopt, std::nullopt},
      {output}};
}

Tensor valuesOf(DType dtype, const Ints& dims) {
  return makeTensor(dtype, dims, mixedValues(countOf(dims), dtype));
}

// The outputs against the reference, row-major, and twice the same bits: long rows take the emulation long.
void expectNearCpu(const Case& layer, double tolerance) {
  const std::string text = problemOf(layer).toString();
  EXPECT_TRUE(hasDeviceCode(layer)) << text;
  const std::vector<Tensor> results = run(layer);
  const Values expected = referenceOf(layer).at(0);
  const Values values = results.at(0).values();
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], tolerance) << text << ": element " << i;
  }
  EXPECT_EQ(results[0].bytes, run(layer).at(0).bytes) << text << ": a second run gives other bits";
}

TEST(LongRows, AreCutIntoParts) {
  const Tensor in = valuesOf(DType::kFloat32, {2, 9000});
  for (const char* op : {"sum", "max", "var", "logsumexp"}) {
    expectNearCpu(reduce(op, in, {1}), 1e-2);
  }
  expectNearCpu(reduce("prod", valuesOf(DType::kInt64, {9000}), {0}), 0);
  for (const bool log : {false, true}) {
    expectNearCpu(softmax(in, 1, log), 2e-6);
  }
  const Tensor scale = valuesOf(DType::kFloat32, {9000});
  expectNearCpu(normalization("layer", in, scale, scale, 1), 2e-5);
  expectNearCpu(normalization("rms", in, scale, scale, 1), 2e-5);
}

TEST(LongRows, ByColumnToo) {
  const Tensor in = valuesOf(DType::kFloat32, {300, 40});
  for (const char* op : {"sum", "min", "std"}) {
    expectNearCpu(reduce(op, in, {0}), 1e-3);
  }
  expectNearCpu(softmax(in, 0, false), 2e-6);
  expectNearCpu(normalization("group", valuesOf(DType::kFloat16, {2, 4, 70, 70}), valuesOf(DType::kFloat16, {4}),
                              valuesOf(DType::kFloat16, {4}), 2),
                2e-2);
}

// Rows of whole chunks of 16 bytes go to the registers of a warp; others, and those of other layouts, elsewhere.
TEST(NormalizedRows, OfEveryDtypeAndLength) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const int64_t length : {7, 8, 24, 264, 520}) {
      const Tensor in = valuesOf(dtype, {2, 3, length}), parameter = valuesOf(dtype, {length});
      expectAsOnCpu(normalization("layer", in, parameter, parameter, 1));
      expectAsOnCpu(normalization("rms", in, parameter, std::nullopt, 1));
      expectAsOnCpu(normalization("layer", in, std::nullopt, std::nullopt, 1));
    }
  }
}

TEST(NormalizedRows, ThatAreEqualGiveTheBias) {
  for (const DType dtype : {DType::kFloat16, DType::kFloat32}) {
    const Tensor in = makeTensor(dtype, {2, 264}, Values(528, 0.1)), bias = valuesOf(dtype, {264});
    const Values values = run(normalization("layer", in, std::nullopt, bias, 1)).at(0).values();
    const Values expected = bias.values();
    EXPECT_EQ(Values(values.begin(), values.begin() + 264), expected);
    EXPECT_EQ(Values(values.begin() + 264, values.end()), expected);
  }
}

TEST(LongRows, AndAllShorterOnesInEveryLayout) {
  for (const int64_t length : {1, 17, 300}) {
    const Tensor in = valuesOf(DType::kFloat32, {2, 33, length});
    expectAsOnCpu(reduce("avg", in, {2}));
    expectAsOnCpu(reduce("max", in, {0, 2}));
    expectAsOnCpu(softmax(in, 2, false), 2e-6);
    expectAsOnCpu(softmax(in, 1, true), 2e-6);
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
