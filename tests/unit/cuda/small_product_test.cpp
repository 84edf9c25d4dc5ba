// Small products and convolutions of 16 bits on tensor cores, and which layers they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/against_reference.h"
#include "cuda/emulation.h"
#include "cuda/image_convolutions.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {
namespace {

std::string chosenFor(const Case& layer) {
  return createKernel(problemOf(layer)).implementation;
}

TEST(SmallProduct, OfEverySize) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t rows : {5, 16, 33, 70}) {
      for (const int64_t columns : {8, 24, 72}) {
        const Case layer = product(dtype, {rows}, 136, columns);
        EXPECT_EQ(chosenFor(layer), "tensor_cores");
        expectAsOnCpu(layer);
      }
    }
    for (const int64_t depth : {8, 64, 72, 520}) {
      expectAsOnCpu(product(dtype, {2, 9}, depth, 40));
    }
  }
}

TEST(SmallProduct, WithBiasResidualAndActivation) {
  for (const char* activation : {"", "relu", "gelu_erf", "hard_swish"}) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        expectAsOnCpu(product(DType::kFloat16, {18}, 48, 40, {bias, residual, activation}));
      }
    }
  }
}

// Blocks of a cluster share the depth. Not all of them have as many stages, and some have none.
TEST(SmallProduct, OfSharedDepth) {
  for (const int64_t depth : {1536, 1672, 3072}) {
    for (const int64_t rows : {9, 32, 50}) {
      const Case layer = product(DType::kFloat16, {rows}, depth, 40, {true, true, "relu"});
      ASSERT_EQ(chosenFor(layer), "tensor_cores");
      expectAsOnCpu(layer);
    }
  }
  const std::vector<std::string> texts = cuda::testing::compiledTexts();
  EXPECT_TRUE(!cuda::testing::isEmulated() || std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return text.find("#define CLUSTER 4") != std::string::npos;
  }));
}

// Activation of a sum that was not rounded before.
TEST(SmallProduct, IsRoundedOnce) {
  Case layer = product(DType::kFloat16, {8}, 16, 8, {false, true, "relu"});
  Values x(8 * 16, 0), weights(8 * 16, 0), residual(64, -2048);  // 2049 is no float16
  for (size_t i = 0; i < 8; ++i) {
    x[i * 16] = 2048;
    x[i * 16 + 1] = 1;
    weights[i * 16] = weights[i * 16 + 1] = 1;
  }
  layer.inputs[0] = makeTensor(DType::kFloat16, {8, 16}, x);
  layer.inputs[1] = makeTensor(DType::kFloat16, {8, 16}, weights);
  layer.inputs[3] = makeTensor(DType::kFloat16, {8, 8}, residual);
  ASSERT_EQ(chosenFor(layer), "tensor_cores");
  EXPECT_EQ(runOne(layer), Values(64, 1));
}

TEST(SmallProduct, NotOfOtherLayers) {
  EXPECT_NE(chosenFor(product(DType::kFloat32, {16}, 64, 16)), "tensor_cores");
  EXPECT_NE(chosenFor(product(DType::kFloat16, {4}, 64, 16)), "tensor_cores");  // few rows have a kernel of their own
  EXPECT_NE(chosenFor(product(DType::kFloat16, {16}, 60, 16)), "tensor_cores");
  EXPECT_NE(chosenFor(product(DType::kFloat16, {16}, 64, 12)), "tensor_cores");
  EXPECT_NE(chosenFor(product(DType::kFloat16, {4096}, 1024, 1024)), "tensor_cores");
  Case batch = product(DType::kFloat16, {2, 16}, 64, 16);
  batch.inputs[1] = valuesOf(DType::kFloat16, {2, 16, 64}, 2);
  EXPECT_NE(chosenFor(batch), "tensor_cores");
  expectAsOnCpu(batch);
  Case rows = product(DType::kFloat16, {16}, 64, 16);
  rows.inputs[2] = valuesOf(DType::kFloat16, {16, 1}, 3);  // the bias of each row
  EXPECT_NE(chosenFor(rows), "tensor_cores");
  expectAsOnCpu(rows);
  Case turned = product(DType::kFloat16, {16}, 64, 16);
  turned.inputs[1] = valuesOf(DType::kFloat16, {64, 16}, 2);
  turned.attributes.set("transpose_b", false);
  EXPECT_NE(chosenFor(turned), "tensor_cores");
  expectAsOnCpu(turned);
}

// The optimum decides at load time; a call with other sizes goes to the library.
TEST(SmallProduct, OfSizesThatChange) {
  const Case layer = product(DType::kFloat16, {16}, 64, 16);
  Problem problem = problemOf(layer);
  problem.inputs[0].dims[0] = problem.outputs[0].dims[0] = -1;
  EXPECT_STREQ(createKernel(problem).implementation, "tensor_cores");
  problem.inputs[0].opt_dims[0] = problem.outputs[0].opt_dims[0] = 1 << 16;
  EXPECT_STRNE(createKernel(problem).implementation, "tensor_cores");
}

// A caller's tensor may begin anywhere.
TEST(SmallProduct, OfOperandsThatBeginAnywhere) {
  const Case layer = product(DType::kFloat16, {10}, 24, 16, {true, true, "relu"});
  const Values expected = resultOf(problemOf(layer), "tensor_cores", layer, Layout::kRowMajor, Layout::kRowMajor, 0);
  for (const size_t skipped : {1, 3, 8}) {
    EXPECT_EQ(resultOf(problemOf(layer), "tensor_cores", layer, Layout::kRowMajor, Layout::kRowMajor, skipped),
              expected);
  }
}

TEST(SmallConvolution, OfEveryWindow) {
  for (const Window& window : {Window{}, Window{{1, 1}, {1, 1}, {0, 0}, {1, 1}}, Window{{1, 1}, {2, 2}, {0, 0}, {1, 1}},
                               Window{{3, 3}, {2, 2}, {1, 1}, {1, 1}}, Window{{5, 2}, {1, 3}, {2, 0}, {1, 1}},
                               Window{{3, 3}, {1, 1}, {2, 2}, {2, 2}}, Window{{2, 2}, {2, 2}, {0, 0}, {1, 1}}}) {
    expectConvolution("tensor_cores", convolution(DType::kFloat16, 16, 24, window));
  }
}

TEST(SmallConvolution, OfEveryNumberOfChannels) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t channels : {8, 24, 72}) {
      expectConvolution("tensor_cores", convolution(dtype, channels, 8, {}));
      expectConvolution("tensor_cores", convolution(dtype, 8, channels, {}));
    }
  }
}

TEST(SmallConvolution, OfSharedDepth) {
  for (const int64_t channels : {160, 184, 256}) {
    expectConvolution("tensor_cores", convolution(DType::kFloat16, channels, 24, {}, {true, true, "relu"}));
  }
}

TEST(SmallConvolution, WithBiasResidualAndActivation) {
  for (const char* activation : {"", "relu", "hard_swish"}) {
    for (const bool residual : {false, true}) {
      expectConvolution("tensor_cores", convolution(DType::kFloat16, 8, 16, {}, {residual, residual, activation}));
    }
  }
}

TEST(SmallConvolution, WithScale) {
  for (const bool beside : {false, true}) {
    expectConvolution("tensor_cores", convolution(DType::kBFloat16, 8, 24, {}, {beside, beside, "relu", true}));
    expectConvolution("tensor_cores", convolution(DType::kFloat16, 184, 24, {}, {beside, beside, "", true}));
  }
}

TEST(SmallConvolution, NotOfOtherLayers) {
  const auto chosen = [](const Case& layer) { return std::string(createKernel(asInEngine(layer)).implementation); };
  EXPECT_NE(chosen(convolution(DType::kFloat32, 8, 8, {})), "tensor_cores");
  EXPECT_NE(chosen(convolution(DType::kFloat16, 12, 8, {})), "tensor_cores");
  EXPECT_NE(chosen(convolution(DType::kFloat16, 8, 12, {})), "tensor_cores");
  const Case large = convolution(DType::kFloat16, 256, 256, {}), small = convolution(DType::kFloat16, 8, 8, {});
  Problem problem = asInEngine(large);
  problem.inputs[0].dims = problem.inputs[0].opt_dims = {32, 256, 56, 56};
  problem.outputs[0].dims = problem.outputs[0].opt_dims = {32, 256, 56, 56};
  EXPECT_STRNE(createKernel(problem).implementation, "tensor_cores");
  problem = asInEngine(small);
  problem.inputs[1].constant = nullptr;  // the weights are computed
  EXPECT_STRNE(createKernel(problem).implementation, "tensor_cores");
  problem = asInEngine(small);
  problem.inputs[0].order.clear();  // row-major
  EXPECT_STRNE(createKernel(problem).implementation, "tensor_cores");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
