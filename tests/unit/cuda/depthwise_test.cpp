// Depthwise convolutions in chunks of channels, and which convolutions they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "cuda/against_reference.h"
#include "kernels/backend.h"
#include "kernels/scale.h"

namespace torchtrt::kernels::testing {
namespace {

struct Windows {
  Ints size = {3, 3}, stride = {1, 1}, padding = {1, 1}, dilation = {1, 1};
};

// Returns the case of an image of two batches.
Case depthwise(DType dtype, int64_t channels, const Windows& windows, const char* activation = "", bool has_bias = true,
               const Ints& places = {6, 9}) {
  const Ints in = {2, channels, places[0], places[1]};
  Ints out = {2, channels};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = windows.dilation[i] * (windows.size[i] - 1) + 1;
    out.push_back((in[i + 2] + 2 * windows.padding[i] - reach) / windows.stride[i] + 1);
  }
  const Ints filter = {channels, 1, windows.size[0], windows.size[1]};
  Case layer = {"convolution",
                makeAttributes({{"stride", windows.stride},
                                {"pre_padding", windows.padding},
                                {"post_padding", windows.padding},
                                {"dilation", windows.dilation},
                                {"groups", channels},
                                {"activation", std::string(activation)}}),
                {makeTensor(dtype, in, mixedValues(countOf(in), dtype)),
                 makeTensor(dtype, filter, mixedValues(countOf(filter), dtype, 1)), std::nullopt},
                {{dtype, out}}};
  if (has_bias) {
    layer.inputs[2] = makeTensor(dtype, {channels}, mixedValues(channels, dtype, 2));
  }
  return layer;
}

Problem withConstantWeights(const Case& layer) {
  Problem problem = problemOf(layer);
  problem.inputs[1].constant = layer.inputs[1]->bytes.data();
  problem.outputs[0].order = {0, 2, 3, 1};
  return problem;
}

// Runs the kernel "depthwise" with input and output in these layouts; the input begins so many elements behind where
// its memory does.
Values resultOf(const Case& layer, Layout in, Layout out, int64_t offset = 0) {
  const Problem problem = withConstantWeights(layer);
  const device::Device& device = *problem.device;
  const Chosen chosen = createKernel(problem, "depthwise");
  EXPECT_STREQ(chosen.implementation, "depthwise");
  EXPECT_FALSE(chosen.kernel->needsConstant(1));
  const auto onDevice = [&](const Tensor& tensor, size_t bytes) {
    device::Memory memory = device.allocate(tensor.bytes.size() + bytes, "an operand of a test");
    device.copyIn(static_cast<std::byte*>(memory.data()) + bytes, tensor.bytes.data(), tensor.bytes.size(), {});
    return memory;
  };
  const size_t skipped = static_cast<size_t>(offset) * sizeOf(layer.outputs[0].dtype);
  const Tensor image =
      makeTensor(layer.inputs[0]->desc.dtype, layer.inputs[0]->desc.dims, layer.inputs[0]->values(), in);
  const Ints& dims = layer.outputs[0].dims;
  Tensor result = makeTensor(layer.outputs[0].dtype, dims, Values(static_cast<size_t>(countOf(dims)), 0), out);
  ShapeSet shapes;
  shapes.inputs = {image.desc, layer.inputs[1]->desc, layer.inputs[2] ? layer.inputs[2]->desc : TensorDesc()};
  if (layer.inputs.size() > kScale) {
    shapes.inputs.insert(shapes.inputs.end(), {TensorDesc(), layer.inputs[kScale]->desc});
  }
  shapes.outputs = {result.desc};
  const device::Memory from = onDevice(image, skipped), to = onDevice(result, 0);
  std::optional<device::Memory> bias, scale;
  if (layer.inputs[2]) {
    bias = onDevice(*layer.inputs[2], 0);
  }
  if (layer.inputs.size() > kScale) {
    scale = onDevice(*layer.inputs[kScale], 0);
  }
  const void* const inputs[] = {static_cast<const std::byte*>(from.data()) + skipped, nullptr,
                                bias ? bias->data() : nullptr, nullptr, scale ? scale->data() : nullptr};
  void* const outputs[] = {to.data()};
  chosen.kernel->prepare(shapes)->run({inputs, outputs, nullptr, 1});
  device.copyOut(result.bytes.data(), to.data(), result.bytes.size(), {});
  return result.values();
}

double toleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 1e-14;
    case DType::kFloat32:
      return 1e-6;
    case DType::kFloat16:
      return 1e-3;
    default:
      return 8e-3;
  }
}

void expectAsReference(const Case& layer) {
  const Values expected = referenceOf(layer).at(0);
  double largest = 0;
  for (const double value : expected) {
    largest = std::max(largest, std::abs(value));
  }
  for (const Layout in : {Layout::kChannelsLast, Layout::kRowMajor, Layout::kWithGaps}) {
    for (const Layout out : {Layout::kChannelsLast, Layout::kRowMajor}) {
      const Values values = resultOf(layer, in, out);
      ASSERT_EQ(values.size(), expected.size());
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_NEAR(values[i], expected[i], toleranceOf(layer.outputs[0].dtype) * largest)
            << withConstantWeights(layer).toString() << ": element " << i;
      }
    }
  }
}

TEST(Depthwise, OfEveryDtypeAndNumberOfChannels) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t channels : {3, 8, 12}) {
      expectAsReference(depthwise(dtype, channels, {}));
      expectAsReference(depthwise(dtype, channels, {{5, 3}, {2, 2}, {2, 1}, {1, 1}}, "hard_swish"));
    }
  }
}

TEST(Depthwise, WithScale) {
  for (const Windows& windows : {Windows{}, Windows{{7, 7}, {1, 1}, {3, 3}, {1, 1}}}) {
    for (const int64_t channels : {3, 16}) {
      for (const bool has_bias : {false, true}) {
        Case layer = depthwise(DType::kBFloat16, channels, windows, "relu", false);
        if (has_bias) {
          layer.inputs[2] = makeTensor(DType::kFloat32, {channels}, mixedValues(channels, DType::kFloat32, 2));
        }
        layer.inputs.insert(layer.inputs.end(), {std::nullopt, makeTensor(DType::kFloat32, {channels},
                                                                          mixedValues(channels, DType::kFloat32, 3))});
        expectAsReference(layer);
      }
    }
  }
}

TEST(Depthwise, OfEveryWindow) {
  for (const Windows& windows : {Windows{{1, 1}, {1, 1}, {0, 0}, {1, 1}}, Windows{{5, 5}, {1, 1}, {2, 2}, {1, 1}},
                                 Windows{{3, 2}, {1, 2}, {0, 1}, {1, 1}}, Windows{{3, 3}, {1, 1}, {2, 3}, {2, 3}},
                                 Windows{{2, 2}, {5, 7}, {0, 0}, {1, 1}}, Windows{{6, 9}, {1, 1}, {0, 0}, {1, 1}}}) {
    expectAsReference(depthwise(DType::kFloat16, 16, windows, "relu"));
    expectAsReference(depthwise(DType::kFloat16, 16, windows, "", false));
  }
}

// Large images give a thread two or four neighbours to do. These widths leave some over.
TEST(Depthwise, OfLargeImages) {
  for (const Ints& places : {Ints{130, 519}, Ints{130, 271}}) {
    const Case layer = depthwise(DType::kFloat16, 8, {{3, 3}, {1, 1}, {1, 1}, {1, 1}}, "hard_swish", true, places);
    const Values expected = referenceOf(layer).at(0);
    const Values values = resultOf(layer, Layout::kChannelsLast, Layout::kChannelsLast);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], expected[i], 0.01 + std::abs(expected[i]) * 1e-3) << "element " << i;
    }
  }
}

// Windows of more than 25 taps go by tiles. Sizes leave parts of lines, places and channels over.
TEST(Depthwise, OfLargeWindows) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    expectAsReference(depthwise(dtype, 40, {{7, 7}, {1, 1}, {3, 3}, {1, 1}}, "silu", true, {9, 19}));
    expectAsReference(depthwise(dtype, 64, {{7, 7}, {2, 2}, {3, 3}, {1, 1}}, "", false, {9, 70}));
    expectAsReference(depthwise(dtype, 72, {{9, 3}, {1, 2}, {0, 1}, {2, 3}}, "relu", true, {21, 20}));
    expectAsReference(depthwise(dtype, 8, {{5, 6}, {3, 1}, {2, 0}, {1, 1}}, "", true, {60, 9}));
  }
}

TEST(Depthwise, OfLargeImagesAndWindows) {
  const Case layer = depthwise(DType::kFloat16, 96, {{7, 7}, {1, 1}, {3, 3}, {1, 1}}, "", true, {58, 57});
  const Values expected = referenceOf(layer).at(0);
  const Values values = resultOf(layer, Layout::kChannelsLast, Layout::kChannelsLast);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], 0.01 + std::abs(expected[i]) * 1e-3) << "element " << i;
  }
}

TEST(Depthwise, OfImagesThatBeginAnywhere) {
  const Case large = depthwise(DType::kFloat16, 16, {{7, 7}, {1, 1}, {3, 3}, {1, 1}});
  const Values of_large = resultOf(large, Layout::kChannelsLast, Layout::kChannelsLast);
  EXPECT_EQ(resultOf(large, Layout::kChannelsLast, Layout::kChannelsLast, 3), of_large);
  const Case layer = depthwise(DType::kFloat16, 16, {});
  const Values expected = resultOf(layer, Layout::kChannelsLast, Layout::kChannelsLast);
  for (const int64_t offset : {1, 4, 8}) {
    EXPECT_EQ(resultOf(layer, Layout::kChannelsLast, Layout::kChannelsLast, offset), expected);
  }
}

TEST(Depthwise, IsChosenForConstantWeightsAndChannelsLast) {
  const Case layer = depthwise(DType::kFloat16, 16, {});
  Problem problem = withConstantWeights(layer);
  EXPECT_STREQ(createKernel(problem).implementation, "depthwise");
  problem.outputs[0].order.clear();
  EXPECT_STRNE(createKernel(problem).implementation, "depthwise");
  problem = withConstantWeights(layer);
  problem.inputs[1].constant = nullptr;
  EXPECT_STRNE(createKernel(problem, "depthwise").implementation, "depthwise");
  Case with_residual = layer;
  with_residual.inputs.push_back(layer.inputs[0]);
  EXPECT_STRNE(createKernel(withConstantWeights(with_residual), "depthwise").implementation, "depthwise");
  EXPECT_STRNE(createKernel(withConstantWeights(depthwise(DType::kFloat16, 1, {})), "depthwise").implementation,
               "depthwise");
  EXPECT_STRNE(createKernel(withConstantWeights(depthwise(DType::kFloat16, 8, {{10, 9}, {1, 1}, {9, 9}, {1, 1}})))
                   .implementation,
               "depthwise");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
