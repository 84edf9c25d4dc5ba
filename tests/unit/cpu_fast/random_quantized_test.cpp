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

class RandomConvolution {
 public:
  explicit RandomConvolution(uint64_t seed)
      : random_(seed),
        rank_(oneIn(8)   ? 1
              : oneIn(6) ? 3
                         : 2),
        groups_(oneIn(4) ? pick(2, 4) : 1),
        channels_(pick(1, 20) * (oneIn(2) ? 4 : 1)),
        outputs_(groups_ * pick(1, 20) * (oneIn(2) ? 4 : 1)),
        is_dynamic_(oneIn(3)) {
    for (int axis = 0; axis < rank_; ++axis) {
      taps_.push_back(pick(1, rank_ != 3 && oneIn(4) ? 7 : 3));
      stride_.push_back(oneIn(3) ? 2 : 1);
      dilation_.push_back(oneIn(5) ? 2 : 1);
      before_.push_back(oneIn(2) ? pick(0, taps_.back()) : 0);
      after_.push_back(oneIn(2) ? pick(0, taps_.back() - 1) : 0);
    }
    const bool is_signed = oneIn(2);
    const int64_t zero_point = oneIn(4) ? 0 : is_signed ? pick(-100, 100) : pick(1, 255);
    input_ = is_signed ? "int8 " : "uint8 ";
    bias_ = oneIn(2) ? "[" + std::to_string(outputs_) + "]" : "null";
    attributes_ = std::string(oneIn(2) ? "activation=\"relu\", " : "") + "dilation=" + list(dilation_) +
                  ", groups=" + std::to_string(groups_) + ", high=255, low=0, output_scale=512.0" +
                  ", output_zero_point=" + std::to_string(oneIn(3) ? 0 : pick(1, 100)) +
                  ", post_padding=" + list(after_) + ", pre_padding=" + list(before_) + ", stride=" + list(stride_) +
                  ", to=uint8, zero_point=" + std::to_string(zero_point);
  }

  // With sizes of its own. Empty where the filter is larger than the image.
  std::string problem() {
    std::vector<int64_t> input = {pick(1, 2), channels_ * groups_}, output = {input[0], outputs_};
    std::vector<int64_t> kernel = {outputs_, channels_};
    for (int axis = 0; axis < rank_; ++axis) {
      const bool is_width = axis == rank_ - 1;
      const auto i = static_cast<size_t>(axis);
      input.push_back(pick(1, rank_ == 3 ? (is_width ? 70 : 9) : is_width ? 140 : 20));
      kernel.push_back(taps_[i]);
      const int64_t places = input.back() + before_[i] + after_[i] - dilation_[i] * (taps_[i] - 1) - 1;
      if (places < 0) {
        return "";
      }
      output.push_back(places / stride_[i] + 1);
    }
    const std::string order = rank_ == 1 ? "@021" : rank_ == 2 ? "@0231" : "@02341";
    return "quantized_convolution " + input_ + sizes(input) + order + "xint8 " + list(kernel) + "!xfloat32 " +
           list({outputs_}) + "!x" + bias_ + " -> uint8 " + sizes(output) + order + " {" + attributes_ + "}";
  }
  // True if one kernel runs every problem.
  bool isDynamic() const {
    return is_dynamic_;
  }

 private:
  bool oneIn(unsigned n) {
    return random_() % n == 0;
  }
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }
  // As operands have them, with a mark where another problem may have another size.
  std::string sizes(const std::vector<int64_t>& values) const {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
      text += (i == 0 ? "[" : ",");
      text += (is_dynamic_ && i != 1 ? "?" : "") + std::to_string(values[i]);
    }
    return text + "]";
  }
  static std::string list(const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values) {
      text += (text.empty() ? "[" : ",") + std::to_string(value);
    }
    return text + "]";
  }

  std::mt19937_64 random_;
  int rank_;
  int64_t groups_, channels_, outputs_;
  bool is_dynamic_;
  std::vector<int64_t> taps_, stride_, dilation_, before_, after_;
  std::string input_, bias_, attributes_;
};

TEST(RandomQuantized, ConvolutionsHaveTheBitsOfTheReference) {
  int taken = 0;
  for (const uint64_t seed : test::seedsToTry(60)) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    RandomConvolution convolution(seed);
    const std::string problem = convolution.problem();
    if (problem.empty()) {
      continue;
    }
    CompareOptions options{.rtol = 0, .atol = 0};
    for (int others = 3; convolution.isDynamic() && others > 0; --others) {
      options.shapes.push_back(convolution.problem());
    }
    std::erase(options.shapes, "");
    for (const char* implementation : {"onednn", "winograd", "integer_gemm"}) {
      taken += expectMatchesReferenceIfTaken(problem, implementation, options) ? 0 : 1;
    }
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace torchtrt::kernels
