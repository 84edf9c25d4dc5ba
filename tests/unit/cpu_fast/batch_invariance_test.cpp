// Kernels of problems that ask for it give each sample the bits that it has alone, whatever the batch and the threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/constants.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

constexpr int64_t kMost = 17;  // samples

// The text with a number in place of every "N".
std::string withBatch(const std::string& pattern, int64_t batch) {
  std::string text;
  for (const char c : pattern) {
    text += c == 'N' ? std::to_string(batch) : std::string(1, c);
  }
  return text + " batch_invariant";
}

size_t bytesOf(const TensorDesc& desc) {
  return static_cast<size_t>(countOf(desc.dims)) * sizeOf(desc.dtype);
}

// Random numbers between -2 and 2 in float32, float64 or the upper half of float32, which is bfloat16; bytes otherwise.
std::shared_ptr<void> randomOf(const TensorDesc& desc, unsigned seed) {
  std::shared_ptr<void> memory = device::allocateConstant(bytesOf(desc) + 64, "testing");
  std::mt19937 random(seed);
  const auto next = [&] { return static_cast<float>(random() % 4001) / 1000.0F - 2.0F; };
  for (int64_t i = 0; i < countOf(desc.dims); ++i) {
    const float value = next();
    auto* const to = static_cast<std::byte*>(memory.get()) + static_cast<size_t>(i) * sizeOf(desc.dtype);
    if (desc.dtype == DType::kFloat32) {
      std::memcpy(to, &value, sizeof value);
    } else if (desc.dtype == DType::kFloat64) {
      const double wide = static_cast<double>(value) + static_cast<double>(next()) * 1e-8;
      std::memcpy(to, &wide, sizeof wide);
    } else if (desc.dtype == DType::kBFloat16) {
      std::memcpy(to, reinterpret_cast<const std::byte*>(&value) + 2, 2);
    } else {
      *to = static_cast<std::byte>(static_cast<int>(value * 60));
    }
  }
  return memory;
}

struct Ran {
  std::vector<std::byte> bytes;  // of the output
  std::string implementation;
};

// The output for the first `batch` of kMost samples, which are the same in every batch.
Ran run(const std::string& pattern, int64_t batch, int threads) {
  ParsedProblem parsed = parseProblem(withBatch(pattern, batch));
  const ParsedProblem most = parseProblem(withBatch(pattern, kMost));
  parsed.problem.threads = threads;
  ShapeSet shapes = tunedShapes(parsed.problem);
  const ShapeSet most_shapes = tunedShapes(most.problem);
  std::vector<std::shared_ptr<void>> operands;
  std::vector<const void*> inputs;
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    const bool is_present = parsed.problem.inputs[i].present;
    operands.push_back(is_present ? randomOf(most_shapes.inputs[i], 7 + static_cast<unsigned>(i)) : nullptr);
    inputs.push_back(operands.back().get());
    if (parsed.constant[i]) {
      parsed.problem.inputs[i].constant = operands.back().get();
    }
  }
  const Chosen chosen = createKernel(parsed.problem);
  const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes);
  std::vector<std::byte> output(bytesOf(shapes.outputs[0]));
  const std::shared_ptr<void> scratch = device::allocateConstant(prepared->scratchBytes() + 64, "testing");
  void* outputs[] = {output.data()};
  prepared->run({inputs.data(), outputs, scratch.get(), threads});
  return {output, std::string(chosen.implementation) + (chosen.kernel->runsEachSample() ? " for each" : "")};
}

class BatchInvariance : public ::testing::TestWithParam<const char*> {};

TEST_P(BatchInvariance, RowsAreThoseOfASingleRun) {
  const Ran all = run(GetParam(), kMost, 1);
  ASSERT_EQ(all.bytes.size() % kMost, 0U);
  for (const int64_t batch : {1, 2, 3, 5, 8, 17}) {
    for (const int threads : {1, 2, 3}) {
      const Ran some = run(GetParam(), batch, threads);
      EXPECT_EQ(some.implementation, all.implementation) << batch;
      EXPECT_TRUE(std::memcmp(some.bytes.data(), all.bytes.data(), some.bytes.size()) == 0)
          << "batch " << batch << " on " << threads << " threads by " << some.implementation;
    }
  }
}

const char* const kProblems[] = {
    "matrix_multiply float32 [N,300]x[300,70]!x[70]! -> [N,70] {activation=\"relu\"}",
    "matrix_multiply float32 [N,16]x[16,8]! -> [N,8] {}",
    "matrix_multiply float32 [N,20,1030]x[1030,33]!xnullx[N,20,33] -> [N,20,33] {}",
    "matrix_multiply float64 [N,90]x[90,40]!x[40]! -> [N,40] {}",
    "matrix_multiply float32 [N,9,24]x[N,24,9] -> [N,9,9] {}",
    "matrix_multiply float32 [N,40]x[40,30] -> [N,30] {}",
    "matrix_multiply float32 [N,40]x[30,40] -> [N,30] {transpose_b=true}",
    "matrix_multiply bfloat16 [N,40,1536]x[1536,384]!x[384]! -> [N,40,384] {}",
    "matrix_multiply bfloat16 [N,3072]x[3072,1030]!xnullx[N,1030] -> [N,1030] {}",
    "convolution float32 [N,3,30,30]@0231x[64,3,7,7]!x[64]! -> [N,64,15,15]@0231 {activation=\"relu\", dilation=[1, "
    "1], "
    "groups=1, post_padding=[3, 3], pre_padding=[3, 3], stride=[2, 2]}",
    "convolution float32 [N,64,14,14]@0231x[64,64,3,3]!x[64]! -> [N,64,14,14]@0231 {dilation=[1, 1], groups=1, "
    "post_padding=[1, 1], pre_padding=[1, 1], stride=[1, 1]}",
    "convolution float32 [N,160,5,5]@0231x[96,160,1,1]!x[96]!x[N,96,5,5]@0231 -> [N,96,5,5]@0231 {dilation=[1, 1], "
    "groups=1, post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1]}",
    "convolution float32 [N,8,11,11]@0231x[20,8,3,3]!x[20]! -> [N,20,11,11]@0231 {dilation=[1, 1], groups=1, "
    "post_padding=[1, 1], pre_padding=[1, 1], stride=[1, 1]}",
    "convolution bfloat16 [N,64,14,14]@0231x[64,64,3,3]!x[64]! -> [N,64,14,14]@0231 {dilation=[1, 1], groups=1, "
    "post_padding=[1, 1], pre_padding=[1, 1], stride=[1, 1]}",
    "convolution float64 [N,16,9,9]@0231x[24,16,3,3]!x[24]! -> [N,24,9,9]@0231 {dilation=[1, 1], groups=1, "
    "post_padding=[1, 1], pre_padding=[1, 1], stride=[1, 1]}",
    "deconvolution float32 [N,32,7,7]@0231x[32,16,2,2]!x[16]! -> [N,16,14,14]@0231 {dilation=[1, 1], groups=1, "
    "post_padding=[0, 0], pre_padding=[0, 0], stride=[2, 2]}",
    "reduce float32 [N,197,192] -> [N,192] {axes=[1], keep_dims=false, op=\"avg\"}",
    "reduce float32 [N,40000] -> [N] {axes=[1], keep_dims=false, op=\"sum\"}",
    "reduce float32 [N,5,7] -> [N,5] {axes=[2], keep_dims=false, op=\"sum\"}",
    "reduce float32 [N,50,3] -> [N,3] {axes=[1], keep_dims=false, op=\"norm2\"}",
};
INSTANTIATE_TEST_SUITE_P(Problems, BatchInvariance, ::testing::ValuesIn(kProblems));

TEST(BatchInvariance, ProblemsSayThatTheyAskForIt) {
  const std::string line = "softmax float32 [2,3] -> [2,3] {axis=1, log=false} batch_invariant";
  EXPECT_TRUE(parseProblem(line).problem.batch_invariant);
  EXPECT_EQ(parseProblem(line).problem.toString(), line);
}

}  // namespace
}  // namespace torchtrt::kernels
