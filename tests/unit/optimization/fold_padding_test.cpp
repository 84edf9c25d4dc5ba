#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

std::string convolved(const std::string& padding, const std::string& convolution) {
  return "network \"n\" (s0 in [0, 1, 2]) {\n  input %x : float32[1, 1, 3, 3]\n"
         "  %w = constant() {} : float32[1, 1, 2, 2] data=[1, 2, 3, 4]\n" +
         (padding.empty() ? std::string() : "  %p = padding(%x) {" + padding + "}\n") + "  %y = convolution(" +
         (padding.empty() ? "%x" : "%p") + ", %w) {" + convolution + "}\n  output \"y\" %y\n}";
}

TEST(FoldPadding, IntoAConvolutionBesideItsOwn) {
  expectChanged("fold_padding", convolved("pre=[0, 0, 1, 0], post=[0, 0, 0, 2]", "pre_padding=[1, 1], stride=[2, 1]"),
                convolved("", "pre_padding=[2, 1], post_padding=[0, 2], stride=[2, 1]"));
}

TEST(FoldPadding, NotOtherPaddingIntoAConvolution) {
  expectKept("fold_padding", convolved("pre=[0, 0, 1, 0], post=[0, 0, 0, 2], value=1", ""));
  expectKept("fold_padding", convolved("pre=[0, 0, 1, 0], post=[0, 0, 0, 2], mode=\"reflect\"", ""));
  expectKept("fold_padding", convolved("pre=[0, 0, -1, 0], post=[0, 0, 0, 2]", ""));
  expectKept("fold_padding", convolved("pre=[1, 0, 1, 0], post=[0, 0, 0, 0]", ""));
  expectKept("fold_padding", convolved("pre=[0, 0, s0, 0], post=[0, 0, 0, 0]", ""));
}

std::string pooled(const std::string& padding, const std::string& pooling) {
  return "network \"n\" () {\n  input %x : float32[1, 1, 4, 4]\n" +
         (padding.empty() ? std::string() : "  %p = padding(%x) {" + padding + "}\n") + "  %y = pooling(" +
         (padding.empty() ? "%x" : "%p") + ") {window=[2, 2], " + pooling + "}\n  output \"y\" %y\n}";
}

constexpr const char* kOnePixel = "pre=[0, 0, 1, 1], post=[0, 0, 0, 1]";

TEST(FoldPadding, ZerosIntoAnAverage) {
  expectChanged("fold_padding", pooled(kOnePixel, "op=\"average\""),
                pooled("", "op=\"average\", pre_padding=[1, 1], post_padding=[0, 1]"));
  // Explicit zeros count, whatever the pooling says of its own padding.
  expectChanged("fold_padding", pooled(kOnePixel, "op=\"average\", count_include_pad=false"),
                pooled("", "op=\"average\", pre_padding=[1, 1], post_padding=[0, 1]"));
}

TEST(FoldPadding, MinusInfinityIntoAMaximum) {
  expectChanged("fold_padding", pooled(std::string(kOnePixel) + ", value=-inf", "op=\"max\""),
                pooled("", "op=\"max\", pre_padding=[1, 1], post_padding=[0, 1]"));
}

TEST(FoldPadding, NotIntoPoolingThatWouldSeeAnother) {
  expectKept("fold_padding", pooled(kOnePixel, "op=\"max\""));
  expectKept("fold_padding", pooled(kOnePixel, "op=\"average\", ceil_mode=true"));
  expectKept("fold_padding", pooled(kOnePixel, "op=\"average\", count_include_pad=false, post_padding=[1, 0]"));
}

// PyTorch allows no more than half a window of padding.
TEST(FoldPadding, NotBeyondHalfAWindow) {
  expectKept("fold_padding", pooled("pre=[0, 0, 2, 0], post=[0, 0, 0, 0]", "op=\"average\""));
  expectKept("fold_padding", pooled(kOnePixel, "op=\"average\", pre_padding=[1, 0]"));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
