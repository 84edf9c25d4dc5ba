// Tests the code that the kernels on oneDNN share.
#include "cpu/onednn/onednn.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#ifndef TORCHTRT_NO_ONEDNN

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/convolution_problem.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels::onednn {
namespace {

using dnnl::memory;

class PackedWeightsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = static_cast<float>(i);
    }
    weights_.pack(values_.data(), describe({2, 3}, {3, 1}), describe({2, 3}, {1, 2}), 1);
  }

  static std::vector<float> read(const PackedConstant& packed) {
    const auto* values = static_cast<const float*>(packed.data.get());
    return {values, values + packed.desc.get_size() / sizeof(float)};
  }

  std::vector<float> values_ = std::vector<float>(6);
  PackedWeights weights_;
};

TEST_F(PackedWeightsTest, KeepsTheLayoutToTuneFor) {
  EXPECT_EQ(read(*weights_.tuned()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST_F(PackedWeightsTest, PacksNothingAgainForTheLayoutToTuneFor) {
  bool made = true;
  EXPECT_EQ(weights_.in(describe({2, 3}, {1, 2}), 1, made), weights_.tuned());
  EXPECT_FALSE(made);
}

TEST_F(PackedWeightsTest, PacksAgainOnceForAllWhoHoldALayout) {
  bool made = false;
  const PackedWeights::Shared rows = weights_.in(describe({2, 3}, {3, 1}), 1, made);
  EXPECT_TRUE(made);
  EXPECT_EQ(read(*rows), values_);
  EXPECT_EQ(weights_.in(describe({2, 3}, {3, 1}), 1, made), rows);
  EXPECT_FALSE(made);
}

TEST_F(PackedWeightsTest, KeepsNoLayoutThatNobodyHolds) {
  bool made = false;
  const std::weak_ptr<const PackedConstant> rows = weights_.in(describe({2, 3}, {3, 1}), 1, made);
  EXPECT_TRUE(rows.expired());
  EXPECT_EQ(read(*weights_.in(describe({2, 3}, {3, 1}), 1, made)), values_);
  EXPECT_TRUE(made);
}

TEST_F(PackedWeightsTest, GivesBackWhatItWasGiven) {
  ASSERT_TRUE(weights_.restores());
  std::vector<float> restored(values_.size());
  weights_.restore(restored.data(), 1, "test");
  EXPECT_EQ(restored, values_);
}

// 9 does not fill its last block of 16, and a NaN that signals would not after any arithmetic.
TEST(PackedWeights, GiveBackBitsOfBlocks) {
  std::vector<uint32_t> bits(9 * 3 * 3 * 5);
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<uint32_t>(i) * 0x9E3779B1U;
  }
  bits[0] = 0x7F800001;
  bits[1] = 0x80000000;
  bits[2] = 0xFFC12345;
  for (const auto tag : {memory::format_tag::Acdb16a, memory::format_tag::ABcd16b16a, memory::format_tag::acdb}) {
    for (const int threads : {1, 2}) {
      const memory::desc layout({9, 5, 3, 3}, memory::data_type::f32, tag);
      PackedWeights weights;
      weights.pack(bits.data(), describe({9, 5, 3, 3}, {45, 9, 3, 1}), layout, threads);
      ASSERT_TRUE(weights.restores());
      std::vector<uint32_t> restored(bits.size());
      weights.restore(restored.data(), threads, "test");
      EXPECT_EQ(restored, bits);
    }
  }
}

TEST(PackedWeights, DoNotRestoreWhatIsRoundedOrOfAnotherType) {
  const std::vector<uint16_t> values(6);
  PackedWeights weights;
  weights.pack(values.data(), describe({2, 3}, {3, 1}, DType::kBFloat16), describe({2, 3}, {1, 2}, DType::kBFloat16),
               1);
  EXPECT_FALSE(weights.restores());
}

TEST(PlainLoop, IsToldFromKernels) {
  const auto convolution = [](const memory::desc& weights) {
    return dnnl::convolution_forward::primitive_desc(engine(), dnnl::prop_kind::forward_inference,
                                                     dnnl::algorithm::convolution_direct,
                                                     describe({1, 16, 8, 8}, {1024, 1, 128, 16}), weights,
                                                     describe({1, 16, 6, 6}, {576, 1, 96, 16}), {1, 1}, {0, 0}, {0, 0});
  };
  EXPECT_FALSE(isPlainLoop(convolution(describeAny({16, 16, 3, 3}))));
  // Taps outermost, an order that none of its kernels reads.
  EXPECT_TRUE(isPlainLoop(convolution(describe({16, 16, 3, 3}, {1, 16, 256, 768}))));
}

// The first layer of an image network is oneDNN's, unless it halves the image and computes silu with vectors of AVX2.
TEST(FirstLayer, OfSiluIsLeftToOneDnnWithoutWideVectorsOnly) {
  const auto layer = [](const char* activation, int64_t stride) {
    return toText({.input = {1, 3, 130, 130},
                   .kernel = {32, 3, 3, 3},
                   .stride = {stride, stride},
                   .activation = std::string("activation=\"") + activation + "\", "});
  };
  expectRefused(layer("relu", 2), "packed_gemm", "slower");
  expectRefused(layer("silu", 1), "packed_gemm", "slower");
  ParsedProblem halved = parseProblem(layer("silu", 2));
  const std::vector<float> weights(32 * 3 * 3 * 3);
  halved.problem.inputs[1].constant = weights.data();
  const bool has_avx2 = (hwy::SupportedTargets() & HWY_AVX2) != 0;
  EXPECT_STREQ(createKernel(halved.problem).implementation, has_avx2 ? "packed_gemm" : "onednn");
}

}  // namespace
}  // namespace torchtrt::kernels::onednn

#endif  // TORCHTRT_NO_ONEDNN
