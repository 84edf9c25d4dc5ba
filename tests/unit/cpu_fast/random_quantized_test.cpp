// Random convolutions of steps by every implementation that takes them, against the reference, bit by bit. Their scales
// are powers of two and all else is exact, so no order of computing excuses a difference.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cpu_fast/compare.h"
#include "support/seeds.h"

namespace torchtrt::kernels {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  // Empty where the filter is larger than the image.
  std::string convolution() {
    const int rank = oneIn(8) ? 1 : oneIn(6) ? 3 : 2;
    const int64_t groups = oneIn(4) ? pick(2, 4) : 1;
    const int64_t channels = pick(1, 20) * (oneIn(2) ? 4 : 1), outputs = groups * pick(1, 20) * (oneIn(2) ? 4 : 1);
    const int64_t batch = pick(1, 2);
    std::vector<int64_t> input = {batch, channels * groups}, kernel = {outputs, channels}, output = {batch, outputs};
    std::vector<int64_t> before, after, stride, dilation;
    for (int axis = 0; axis < rank; ++axis) {
      const bool is_width = axis == rank - 1;
      input.push_back(pick(1, rank == 3 ? (is_width ? 70 : 9) : is_width ? 140 : 20));
      kernel.push_back(pick(1, rank != 3 && oneIn(4) ? 7 : 3));
      stride.push_back(oneIn(3) ? 2 : 1);
      dilation.push_back(oneIn(5) ? 2 : 1);
      before.push_back(oneIn(2) ? pick(0, kernel.back()) : 0);
      after.push_back(oneIn(2) ? pick(0, kernel.back() - 1) : 0);
      const int64_t places = input.back() + before.back() + after.back() - dilation.back() * (kernel.back() - 1) - 1;
      if (places < 0) {
        return "";
      }
      output.push_back(places / stride.back() + 1);
    }
    const std::string order = rank == 1 ? "@021" : rank == 2 ? "@0231" : "@02341";
    const bool is_signed = oneIn(2);
    const int64_t zero_point = oneIn(4) ? 0 : is_signed ? pick(-100, 100) : pick(1, 255);
    return "quantized_convolution " + std::string(is_signed ? "int8 " : "uint8 ") + list(input) + order + "xint8 " +
           list(kernel) + "!xfloat32 " + list({outputs}) + "!x" + (oneIn(2) ? list({outputs}) : "null") + " -> uint8 " +
           list(output) + order + " {" + (oneIn(2) ? "activation=\"relu\", " : "") + "dilation=" + list(dilation) +
           ", groups=" + std::to_string(groups) +
           ", high=255, low=0, output_scale=512.0, output_zero_point=" + std::to_string(oneIn(3) ? 0 : pick(1, 100)) +
           ", post_padding=" + list(after) + ", pre_padding=" + list(before) + ", stride=" + list(stride) +
           ", to=uint8, zero_point=" + std::to_string(zero_point) + "}";
  }

 private:
  bool oneIn(unsigned n) {
    return random_() % n == 0;
  }
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  static std::string list(const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values) {
      text += (text.empty() ? "[" : ",") + std::to_string(value);
    }
    return text + "]";
  }

  std::mt19937_64 random_;
};

TEST(RandomQuantized, ConvolutionsHaveTheBitsOfTheReference) {
  int taken = 0;
  for (const uint64_t seed : test::seedsToTry(60)) {
    const std::string problem = Maker(seed).convolution();
    if (problem.empty()) {
      continue;
    }
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    for (const char* implementation : {"onednn", "winograd", "integer_gemm"}) {
      taken += expectMatchesReferenceIfTaken(problem, implementation, {.rtol = 0, .atol = 0}) ? 0 : 1;
    }
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace torchtrt::kernels
