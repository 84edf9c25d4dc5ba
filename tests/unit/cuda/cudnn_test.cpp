// Convolutions by cuDNN. The shared cases of convolution and deconvolution run on it, too; here are how it is called,
// and when others take its place.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpu/harness.h"
#include "cuda/counted_driver.h"
#include "cuda/driver/library.h"
#include "cuda/emulation.h"
#include "cuda/fake_cudnn.h"
#include "kernels/backend.h"
#include "torchtrt/error.h"
#include "torchtrt/plugin.h"

namespace torchtrt::cuda::testing {
namespace {

using kernels::testing::Case;
using kernels::testing::expectOutputs;
using kernels::testing::Ints;
using kernels::testing::kFloatingDTypes;
using kernels::testing::Layout;
using kernels::testing::makeAttributes;
using kernels::testing::makeTensor;
using kernels::testing::mixedValues;
using kernels::testing::problemOf;
using kernels::testing::run;
using kernels::testing::runOne;
using kernels::testing::Tensor;
using kernels::testing::Values;

class CudnnCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!isEmulated()) {
      GTEST_SKIP() << "looks at calls of a fake";
    }
    fakeCudnn() = {};
    useCudnn(tableOfFakeCudnn());  // plans of other tests are not known to it
  }
  void TearDown() override {
    fakeCudnn() = {};
    if (isEmulated()) {
      useCudnn(tableOfFakeCudnn());
    }
  }
  static std::string callsOf(const Case& layer, Layout out = Layout::kRowMajor) {
    fakeCudnn().calls.clear();
    run(layer, out);
    return fakeCudnn().calls;
  }
};

// [1,2,1,2] by a kernel of 1 x 2 to [1,2,1,1], so that results are seen at once: -1 and 8 without bias.
Case small(const char* activation, DType dtype, Layout layout = Layout::kRowMajor) {
  return {"convolution",
          makeAttributes({{"stride", Ints{1, 1}},
                          {"pre_padding", Ints{0, 0}},
                          {"post_padding", Ints{0, 0}},
                          {"dilation", Ints{1, 1}},
                          {"activation", std::string(activation)}}),
          {makeTensor(dtype, {1, 2, 1, 2}, {1, 2, 3, 4}, layout),
           makeTensor(dtype, {2, 2, 1, 2}, {1, -1, 0, 0, 0, 0, 0, 2}), makeTensor(dtype, {2}, {-10, 1})},
          {{dtype, {1, 2, 1, 1}}}};
}

TEST_F(CudnnCalls, BiasAndActivationAreInTheGraph) {
  EXPECT_EQ(callsOf(small("relu", DType::kFloat16)), "channels last float16 forward add relu");
  EXPECT_EQ(runOne(small("relu", DType::kFloat16)), (Values{0, 9}));
  EXPECT_EQ(callsOf(small("sigmoid", DType::kBFloat16)), "channels last bfloat16 forward add activation");
  EXPECT_EQ(callsOf(small("", DType::kFloat64)), "float64 forward add");
}

TEST_F(CudnnCalls, AClipFromZeroIsARelu) {
  Case layer = small("clip", DType::kFloat32);
  layer.attributes.set("activation_beta", 6.0);
  EXPECT_EQ(callsOf(layer), "float32 forward add relu");
  EXPECT_EQ(runOne(layer), (Values{0, 6}));
  layer.attributes.set("activation_alpha", -1.0);
  EXPECT_EQ(callsOf(layer), "float32 forward");
  EXPECT_EQ(runOne(layer), (Values{-1, 6}));
}

TEST_F(CudnnCalls, OtherActivationsAreALaunchBehind) {
  EXPECT_EQ(callsOf(small("hard_swish", DType::kFloat16)), "channels last float16 forward add");
  EXPECT_EQ(runOne(small("hard_swish", DType::kFloat16)), (Values{0, 9}));
  EXPECT_EQ(callsOf(small("hard_swish", DType::kFloat32)), "float32 forward");
  // The library's is not exact to 32 bits.
  EXPECT_EQ(callsOf(small("silu", DType::kFloat32)), "float32 forward");
}

// The fake's first engine that gives the same bits each time uses tensor cores, and the next one does not.
TEST_F(CudnnCalls, Float32IsOnTensorCoresOnlyWhereTheLayerAllowsTf32) {
  fakeCudnn().allows_tf32 = true;
  Case layer = small("relu", DType::kFloat32);
  EXPECT_EQ(callsOf(layer), "float32 forward add relu");
  layer.attributes.set("tf32", true);
  EXPECT_EQ(callsOf(layer), "tf32 channels last float32 forward add relu");
  EXPECT_EQ(runOne(layer), (Values{0, 9}));
}

TEST_F(CudnnCalls, AResidualIsInTheGraph) {
  Case layer = small("relu", DType::kFloat16);
  layer.inputs.push_back(makeTensor(DType::kFloat16, {1, 2, 1, 1}, {20, -20}));
  EXPECT_EQ(callsOf(layer), "channels last float16 forward add add relu");
  EXPECT_EQ(runOne(layer), (Values{9, 0}));
}

TEST_F(CudnnCalls, AScaleIsInTheGraph) {
  Case layer = small("relu", DType::kBFloat16);
  layer.inputs[2] = makeTensor(DType::kFloat32, {2}, {-10, 1});
  layer.inputs.insert(layer.inputs.end(), {std::nullopt, makeTensor(DType::kFloat32, {2}, {-20, 0.5})});
  EXPECT_EQ(callsOf(layer), "channels last bfloat16 forward multiply add relu");
  EXPECT_EQ(runOne(layer), (Values{10, 5}));
  layer.inputs[3] = makeTensor(DType::kBFloat16, {1, 2, 1, 1}, {20, -20});
  EXPECT_EQ(callsOf(layer), "channels last bfloat16 forward multiply add add relu");
  EXPECT_EQ(runOne(layer), (Values{30, 0}));
  fakeCudnn().fuses_nothing = true;
  EXPECT_EQ(callsOf(layer), "channels last bfloat16 forward");
  EXPECT_EQ(runOne(layer), (Values{30, 0}));
}

TEST_F(CudnnCalls, WithoutFusionALaunchFinishes) {
  fakeCudnn().fuses_nothing = true;
  EXPECT_EQ(callsOf(small("relu", DType::kFloat16)), "channels last float16 forward");
  EXPECT_EQ(runOne(small("relu", DType::kFloat16)), (Values{0, 9}));
  fakeCudnn().widens_nothing = true;
  EXPECT_EQ(callsOf(small("relu", DType::kBFloat16)), "channels last bfloat16 forward");
  EXPECT_EQ(runOne(small("relu", DType::kBFloat16)), (Values{0, 9}));
}

TEST_F(CudnnCalls, WithoutAnEngineDirectRuns) {
  fakeCudnn().has_no_engines = true;
  EXPECT_EQ(callsOf(small("relu", DType::kFloat16)), "");
  EXPECT_EQ(runOne(small("relu", DType::kFloat16)), (Values{0, 9}));
}

TEST_F(CudnnCalls, WithoutTheLibraryDirectRuns) {
  useCudnn({}, "libcudnn.so.9: no such file");
  const Case layer = small("relu", DType::kFloat32);
  const kernels::Chosen chosen = kernels::createKernel(problemOf(layer));
  EXPECT_STREQ(chosen.implementation, "direct");
  ASSERT_FALSE(chosen.refusals.empty());
  EXPECT_EQ(chosen.refusals.back().second.reason, "cuDNN is missing: libcudnn.so.9: no such file");
  EXPECT_EQ(runOne(layer), (Values{0, 9}));
}

TEST_F(CudnnCalls, WhereTheLibraryDoesNotStartDirectRuns) {
  fakeCudnn().status_of_create = 1001;
  EXPECT_EQ(callsOf(small("relu", DType::kFloat32)), "");
  EXPECT_EQ(runOne(small("relu", DType::kFloat32)), (Values{0, 9}));
}

TEST_F(CudnnCalls, SaysWhatFailed) {
  fakeCudnn().status_of_execute = 5000;
  try {
    run(small("relu", DType::kFloat32));
    ADD_FAILURE() << "a failed convolution goes unnoticed";
  } catch (const EngineError& error) {
    EXPECT_STREQ(error.what(), "[E006] a convolution on the GPU: cuDNN says \"the status of a fake\" (5000)");
  }
  fakeCudnn().status_of_execute = dnn::kNoDeviceMemory;
  try {
    run(small("relu", DType::kFloat32));
    ADD_FAILURE() << "a failed convolution goes unnoticed";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  }
}

TEST_F(CudnnCalls, EqualConvolutionsShareAPlan) {
  const Case layer = small("relu", DType::kFloat32);
  const kernels::Chosen first = kernels::createKernel(problemOf(layer)),
                        second = kernels::createKernel(problemOf(layer));
  kernels::ShapeSet shapes;
  for (const auto& input : layer.inputs) {
    shapes.inputs.push_back(input->desc);
  }
  shapes.outputs = {makeTensor(DType::kFloat32, {1, 2, 1, 1}, {0, 0}).desc};
  const auto a = first.kernel->prepare(shapes), b = second.kernel->prepare(shapes);
  EXPECT_EQ(fakeCudnn().plans, 1);
  EXPECT_TRUE(a->isRecordable());
}

// Elements of output, input and filter multiplied are 0 modulo 2^64.
TEST_F(CudnnCalls, SizesWhoseProductWrapsToZeroAreNotEmpty) {
  const DType dtype = DType::kFloat32;
  const Case layer = {"convolution",
                      makeAttributes({{"stride", Ints{1, 1}},
                                      {"pre_padding", Ints{1, 1}},
                                      {"post_padding", Ints{1, 1}},
                                      {"dilation", Ints{1, 1}},
                                      {"activation", std::string()}}),
                      {makeTensor(dtype, {1, 128, 1, 1}, Values(128)),
                       makeTensor(dtype, {128, 128, 3, 3}, Values(size_t{128} * 128 * 9))},
                      {{dtype, {1, 128, 1, 1}}}};
  kernels::TensorDesc image = layer.inputs[0]->desc;
  image.dims = {1, 128, 512, 512};
  image.strides = kernels::denseStrides(image.dims);
  kernels::ShapeSet shapes;
  shapes.inputs = {image, layer.inputs[1]->desc};
  shapes.outputs = {image};
  const kernels::Chosen chosen = kernels::createKernel(problemOf(layer));
  const auto prepared = chosen.kernel->prepare(shapes);
  EXPECT_EQ(fakeCudnn().plans, 1);
}

TEST_F(CudnnCalls, ActivationsThatDifferInTheLastBitsShareNoPlan) {
  Case layer = small("leaky_relu", DType::kFloat32);
  kernels::ShapeSet shapes;
  for (const auto& input : layer.inputs) {
    shapes.inputs.push_back(input->desc);
  }
  shapes.outputs = {makeTensor(DType::kFloat32, {1, 2, 1, 1}, {0, 0}).desc};
  std::vector<std::unique_ptr<kernels::Prepared>> prepared;
  for (const double slope : {0.1, 0.10000001}) {
    layer.attributes.set("activation_alpha", slope);
    prepared.push_back(kernels::createKernel(problemOf(layer)).kernel->prepare(shapes));
  }
  EXPECT_EQ(fakeCudnn().plans, 2);
}

// A convolution of 3 x 3 with places around, to [2,4,3,5].
Case large(DType dtype, Layout layout = Layout::kRowMajor) {
  return {"convolution",
          makeAttributes({{"stride", Ints{1, 1}},
                          {"pre_padding", Ints{1, 1}},
                          {"post_padding", Ints{1, 1}},
                          {"dilation", Ints{1, 1}},
                          {"activation", std::string("relu")}}),
          {makeTensor(dtype, {2, 3, 3, 5}, mixedValues(90, dtype, 1), layout),
           makeTensor(dtype, {4, 3, 3, 3}, mixedValues(108, dtype, 2)), makeTensor(dtype, {4}, {1, 2, -3, 4})},
          {{dtype, {2, 4, 3, 5}}}};
}

TEST_F(CudnnCalls, TheLayoutIsThatOfTheOutput) {
  EXPECT_EQ(callsOf(large(DType::kFloat16)), "float16 forward add relu");
  EXPECT_EQ(callsOf(large(DType::kFloat16), Layout::kChannelsLast), "channels last float16 forward add relu");
  EXPECT_EQ(callsOf(large(DType::kFloat32, Layout::kChannelsLast)), "float32 forward add relu");
  fakeCudnn().has_no_channels_last = true;
  useCudnn(tableOfFakeCudnn());
  EXPECT_EQ(callsOf(large(DType::kFloat32), Layout::kChannelsLast), "float32 forward add relu");
}

// The library may read a residual while the launch in front of it still writes that.
TEST_F(CudnnCalls, AFenceStandsBehindTheCopyOfAResidual) {
  std::vector<Values> results;
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast}) {
    Case layer = large(DType::kFloat32);
    layer.inputs.push_back(makeTensor(DType::kFloat32, {2, 4, 3, 5}, mixedValues(120, DType::kFloat32, 3), layout));
    const CountedDriver counted;
    results.push_back(runOne(layer));
    EXPECT_EQ(counted.counts().filled, layout == Layout::kChannelsLast ? 1 : 0);
  }
  EXPECT_EQ(results[0], results[1]);
}

// Small images have long sums, and an engine without anything behind it is faster for them.
TEST_F(CudnnCalls, ManyChannelsOfSmallImagesAreFinishedByALaunch) {
  const auto convolution = [](DType dtype, const Ints& places) {
    return Case{"convolution",
                makeAttributes({{"stride", Ints{1, 1}},
                                {"pre_padding", Ints{1, 1}},
                                {"post_padding", Ints{1, 1}},
                                {"dilation", Ints{1, 1}},
                                {"activation", std::string("relu")}}),
                {makeTensor(dtype, {1, 8, places[0], places[1]}, mixedValues(8 * places[0] * places[1], dtype, 1)),
                 makeTensor(dtype, {8, 8, 3, 3}, mixedValues(576, dtype, 2)),
                 makeTensor(dtype, {8}, {1, 2, -3, 4, 5, 6, -7, 8})},
                {{dtype, {1, 8, places[0], places[1]}}}};
  };
  EXPECT_EQ(callsOf(convolution(DType::kFloat16, {3, 4}), Layout::kChannelsLast), "channels last float16 forward");
  EXPECT_EQ(callsOf(convolution(DType::kFloat32, {3, 4}), Layout::kChannelsLast),
            "channels last float32 forward add relu");
  EXPECT_EQ(callsOf(convolution(DType::kFloat16, {257, 256}), Layout::kChannelsLast),
            "channels last float16 forward add relu");
}

// Does what an engine does: weights are a constant, and the plan says how the output lies.
TEST_F(CudnnCalls, ConstantWeightsAreRearrangedOnce) {
  Case layer = large(DType::kFloat16);
  const Values expected = runOne(layer);
  kernels::Problem problem = problemOf(layer);
  problem.outputs[0].order = {0, 2, 3, 1};
  problem.inputs[1].constant = layer.inputs[1]->bytes.data();
  const kernels::Chosen chosen = kernels::createKernel(problem);
  ASSERT_STREQ(chosen.implementation, "cudnn");
  EXPECT_FALSE(chosen.kernel->needsConstant(1));
  EXPECT_TRUE(chosen.kernel->needsConstant(2));
  EXPECT_EQ(chosen.kernel->packedBytes(), 216U);
  std::fill(layer.inputs[1]->bytes.begin(), layer.inputs[1]->bytes.end(), std::byte{0x77});
  const device::Device& device = *problem.device;
  kernels::ShapeSet shapes;
  std::vector<device::Memory> memory;
  std::vector<const void*> inputs;
  for (const auto& input : layer.inputs) {
    shapes.inputs.push_back(input->desc);
    memory.push_back(device.allocate(input->bytes.size() + 16, "an operand"));
    device.copyIn(memory.back().data(), input->bytes.data(), input->bytes.size(), {});
    inputs.push_back(memory.back().data());
  }
  inputs[1] = nullptr;
  Tensor result = makeTensor(DType::kFloat16, {2, 4, 3, 5}, Values(120, 0), Layout::kChannelsLast);
  shapes.outputs = {result.desc};
  const device::Memory out = device.allocate(result.bytes.size(), "the result");
  void* const outputs[] = {out.data()};
  for (int time = 0; time < 2; ++time) {
    const std::unique_ptr<kernels::Prepared> prepared = chosen.kernel->prepare(shapes);
    const device::Memory scratch = device.allocate(prepared->scratchBytes(), "scratch");
    fakeCudnn().calls.clear();
    prepared->run({inputs.data(), outputs, scratch.data(), 1});
    EXPECT_EQ(fakeCudnn().calls, "channels last float16 forward add relu");
    device.copyOut(result.bytes.data(), out.data(), result.bytes.size(), {});
    EXPECT_EQ(result.values(), expected);
    // An operand at an odd place is read by the kernel behind.
    std::byte* const odd = static_cast<std::byte*>(memory[0].data()) + 2;
    device.copyIn(odd, layer.inputs[0]->bytes.data(), layer.inputs[0]->bytes.size(), {});
    inputs[0] = odd;
    fakeCudnn().calls.clear();
    prepared->run({inputs.data(), outputs, scratch.data(), 1});
    EXPECT_EQ(fakeCudnn().calls, "");
    device.copyOut(result.bytes.data(), out.data(), result.bytes.size(), {});
    EXPECT_EQ(result.values(), expected);
    inputs[0] = memory[0].data();
    device.copyIn(memory[0].data(), layer.inputs[0]->bytes.data(), layer.inputs[0]->bytes.size(), {});
  }
}

// More keys than the kernel "tensor_cores" takes by itself.
Case attention(DType dtype, int64_t size, int64_t keys = 257) {
  plugin::registerBuiltinPlugins();
  const auto operand = [&](int64_t rows) {
    return makeTensor(dtype, {2, 3, rows, size}, mixedValues(6 * rows * size, dtype));
  };
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("Attention")},
                          {"version", std::string("1")},
                          {"scale", 0.5},
                          {"transpose_k", true}}),
          {operand(4), operand(keys), operand(keys)},
          {{dtype, {2, 3, 4, size}}}};
}

TEST_F(CudnnCalls, AttentionOf16BitsIsOneOperation) {
  EXPECT_EQ(callsOf(attention(DType::kFloat16, 8)), "attention float16");
  EXPECT_EQ(callsOf(attention(DType::kBFloat16, 64)), "attention bfloat16");
}

TEST_F(CudnnCalls, EqualAttentionSharesAPlan) {
  const Case layer = attention(DType::kFloat16, 8);
  kernels::ShapeSet shapes;
  shapes.inputs = {layer.inputs[0]->desc, layer.inputs[1]->desc, layer.inputs[2]->desc};
  shapes.outputs = {layer.inputs[0]->desc};
  const kernels::Chosen chosen = kernels::createKernel(problemOf(layer));
  const auto first = chosen.kernel->prepare(shapes), second = chosen.kernel->prepare(shapes);
  EXPECT_EQ(fakeCudnn().plans, 1);
  Case other = layer;
  other.attributes.set("scale", 0.25);
  const auto third = kernels::createKernel(problemOf(other)).kernel->prepare(shapes);
  EXPECT_EQ(fakeCudnn().plans, 2);
}

TEST_F(CudnnCalls, OtherAttentionStaysAway) {
  EXPECT_EQ(callsOf(attention(DType::kFloat16, 12)), "");  // no engine
  EXPECT_EQ(callsOf(attention(DType::kFloat32, 8)), "");
  Case masked = attention(DType::kFloat16, 8);
  masked.inputs.push_back(makeTensor(DType::kBool, {4, 257}, Values(4 * 257, 1)));
  EXPECT_EQ(callsOf(masked), "");
  EXPECT_STREQ(kernels::createKernel(problemOf(masked)).implementation, "attention");
  Case columns = attention(DType::kFloat16, 8);
  columns.inputs[0] =
      makeTensor(DType::kFloat16, {2, 3, 4, 8}, mixedValues(192, DType::kFloat16), Layout::kColumnMajor);
  EXPECT_EQ(callsOf(columns), "");
  EXPECT_EQ(callsOf(attention(DType::kFloat16, 8, 256)), "");
  EXPECT_STREQ(kernels::createKernel(problemOf(attention(DType::kFloat16, 8, 256))).implementation, "tensor_cores");
  useCudnn({}, "libcudnn.so.9: no such file");
  EXPECT_STREQ(kernels::createKernel(problemOf(attention(DType::kFloat16, 8))).implementation, "attention");
}

TEST(Cudnn, ReluKeepsNaN) {
  for (const DType dtype : kFloatingDTypes) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Case layer = small("relu", dtype);
    layer.inputs[0] = makeTensor(dtype, {1, 2, 1, 2}, {nan, 2, 3, 4});
    layer.inputs[1] = makeTensor(dtype, {2, 2, 1, 2}, {1, -1, 0, 0, 1, 0, 0, 2});
    expectOutputs(layer, {{nan, nan}});
  }
}

TEST(Cudnn, ReluKeepsNaNWithTensorCores) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kChannels = 64, kPlaces = 64;
  Values in(kChannels * kPlaces, 0.5);
  in[0] = nan;  // reaches the first four results of every channel
  Values expected(kChannels * kPlaces, 0);
  for (size_t i = 0; i < expected.size(); ++i) {
    const size_t row = i % 64 / 8, column = i % 8;
    expected[i] = row < 2 && column < 2 ? nan : 0;
  }
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32}) {
    expectOutputs({"convolution",
                   makeAttributes({{"stride", Ints{1, 1}},
                                   {"pre_padding", Ints{1, 1}},
                                   {"post_padding", Ints{1, 1}},
                                   {"dilation", Ints{1, 1}},
                                   {"activation", std::string("relu")}}),
                   {makeTensor(dtype, {1, kChannels, 8, 8}, in),
                    makeTensor(dtype, {kChannels, kChannels, 3, 3}, Values(kChannels * kChannels * 9, -0.25)),
                    makeTensor(dtype, {kChannels}, Values(kChannels, 1))},
                   {{dtype, {1, kChannels, 8, 8}}}},
                  {expected});
  }
}

// Sizes with which tensor cores work, and activations that the library may compute.
TEST(Cudnn, ActivationsAreThoseOfTheLayer) {
  constexpr int64_t kIn = 16, kOut = 24, kSide = 6;
  for (const DType dtype : kFloatingDTypes) {
    for (const std::string activation : {"", "relu", "silu", "gelu_erf", "hard_swish"}) {
      const Values in = mixedValues(kIn * kSide * kSide, dtype, 1), bias = mixedValues(kOut, dtype, 3);
      Values weights = mixedValues(kOut * kIn, dtype, 2);
      for (double& value : weights) {
        value /= 64;  // results of a few units
      }
      Values expected;
      for (int64_t k = 0; k < kOut; ++k) {
        for (int64_t place = 0; place < kSide * kSide; ++place) {
          double x = bias[static_cast<size_t>(k)];
          for (int64_t c = 0; c < kIn; ++c) {
            x += in[static_cast<size_t>(c * kSide * kSide + place)] * weights[static_cast<size_t>(k * kIn + c)];
          }
          expected.push_back(activation == "relu"         ? std::max(x, 0.0)
                             : activation == "silu"       ? x / (1 + std::exp(-x))
                             : activation == "gelu_erf"   ? 0.5 * x * (1 + std::erf(x / std::sqrt(2)))
                             : activation == "hard_swish" ? x * std::clamp(x + 3, 0.0, 6.0) / 6
                                                          : x);
        }
      }
      expectOutputs({"convolution",
                     makeAttributes({{"stride", Ints{1, 1}},
                                     {"pre_padding", Ints{0, 0}},
                                     {"post_padding", Ints{0, 0}},
                                     {"dilation", Ints{1, 1}},
                                     {"activation", activation}}),
                     {makeTensor(dtype, {1, kIn, kSide, kSide}, in), makeTensor(dtype, {kOut, kIn, 1, 1}, weights),
                      makeTensor(dtype, {kOut}, bias)},
                     {{dtype, {1, kOut, kSide, kSide}}}},
                    {expected});
    }
  }
}

TEST(Cudnn, TheLibraryHasEveryFunction) {
  Library library("libcudnn.so.9", "cudnn");
  if (!library.isOpen()) {
    GTEST_SKIP() << library.reason();
  }
#define TORCHTRT_FIND(member, symbol, ...) EXPECT_NE(library.find(#symbol), nullptr) << #symbol;
  TORCHTRT_CUDNN_FUNCTIONS(TORCHTRT_FIND)
#undef TORCHTRT_FIND
}

}  // namespace
}  // namespace torchtrt::cuda::testing
