// The fast pooling kernels against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

std::string pooling(const std::string& op, const std::string& shapes, const std::string& window,
                    const std::string& stride, const std::string& pre, const std::string& post,
                    const std::string& rest = "") {
  const std::string ones = window.find(',') == std::string::npos ? "[1]" : "[1, 1]";
  return "pooling float32 " + shapes + " {" +
         (rest.find("dilation") == std::string::npos ? "dilation=" + ones + ", " : "") + rest + "op=\"" + op +
         "\", post_padding=" + post + ", pre_padding=" + pre + ", stride=" + stride + ", window=" + window + "}";
}

TEST(ChannelsLastPooling, WindowsPaddingAndTails) {
  for (const char* op : {"max", "average"}) {
    for (const char* channels : {"1", "3", "16", "17", "70", "130"}) {
      const std::string c = channels;
      expectMatchesReferenceInBoth(
          pooling(op, "[2," + c + ",9,11]@0231 -> [2," + c + ",5,6]@0231", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]"),
          "channels_last");
    }
    expectMatchesReferenceInBoth(
        pooling(op, "[1,6,28,28]@0231 -> [1,6,14,14]@0231", "[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]"), "channels_last");
    // Ceil mode: the last windows hang over.
    expectMatchesReferenceInBoth(
        pooling(op, "[1,6,10,10]@0231 -> [1,6,5,5]@0231", "[3, 3]", "[2, 2]", "[0, 0]", "[0, 0]"), "channels_last");
    expectMatchesReferenceInBoth(pooling(op, "[1,6,21]@021 -> [1,6,10]@021", "[4]", "[2]", "[1]", "[1]"),
                                 "channels_last");
  }
  expectMatchesReferenceInBoth(pooling("average", "[1,6,9,9]@0231 -> [1,6,5,5]@0231", "[3, 3]", "[2, 2]", "[1, 1]",
                                       "[1, 1]", "count_include_pad=false, "),
                               "channels_last");
  expectMatchesReferenceInBoth(
      pooling("average", "[1,6,9,9]@0231 -> [1,6,5,5]@0231", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "divisor=7, "),
      "channels_last");
  expectMatchesReferenceInBoth(
      pooling("max", "[1,6,9,9]@0231 -> [1,6,5,5]@0231", "[3, 3]", "[1, 1]", "[0, 0]", "[0, 0]", "dilation=[2, 2], "),
      "channels_last");
}

TEST(ChannelsLastPooling, MaximumOfSpecialValues) {
  CompareOptions options;
  options.values = Values::kSpecial;
  options.rtol = 0;
  options.atol = 0;
  expectMatchesReferenceInBoth(
      pooling("max", "[1,40,9,11]@0231 -> [1,40,5,6]@0231", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]"), "channels_last",
      options);
}

TEST(BytesPooling, WindowsPaddingAndTails) {
  for (const char* dtype : {"int8", "uint8"}) {
    const auto text = [&](const std::string& channels, const std::string& rest) {
      return "pooling " + std::string(dtype) + " [2," + channels + ",9,11]@0231 -> [2," + channels + rest;
    };
    for (const char* channels : {"1", "3", "4", "7", "16", "17", "31", "32", "33", "70", "130", "256"}) {
      expectMatchesReference(text(channels,
                                  ",5,6]@0231 {dilation=[1, 1], op=\"max\", post_padding=[1, 1], pre_padding=[1, 1], "
                                  "stride=[2, 2], window=[3, 3]}"),
                             "bytes");
    }
    // Windows without an element, and steps of two.
    expectMatchesReference(text("40",
                                ",11,13]@0231 {dilation=[2, 2], op=\"max\", post_padding=[2, 2], "
                                "pre_padding=[2, 2], stride=[1, 1], window=[2, 2]}"),
                           "bytes");
  }
  expectMatchesReference(
      "pooling uint8 [1,5,21]@021 -> [1,5,10]@021 {dilation=[1], op=\"max\", post_padding=[1], pre_padding=[1], "
      "stride=[2], window=[4]}",
      "bytes");
}

TEST(AdaptiveLines, WindowsOfAnySize) {
  for (const char* op : {"average", "max"}) {
    const std::string rest = " {op=\"" + std::string(op) + "\", output_size=";
    const auto expectSame = [&](const std::string& in, const std::string& out, const std::string& size) {
      for (const Values values : {Values::kExact, Values::kSomeNan, Values::kSmooth}) {
        CompareOptions options;
        options.values = values;
        const std::string operands = std::string("adaptive_pooling float32 ").append(in) + " -> " + out;
        expectMatchesReferenceInBoth(operands + rest + size + "}", "lines", options);
      }
    };
    for (const char* width : {"1", "7", "8", "33", "100"}) {
      const std::string w = width;
      expectSame("[2,3,7," + w + "]", "[2,3,1,1]", "(1, 1)");
      expectSame("[2,3,7," + w + "]", "[2,3,3,4]", "(3, 4)");
      expectSame("[3,7," + w + "]", "[3,9,1]", "(9, 1)");
      expectSame("[2,3,5," + w + "]@1032", "[2,3,2,3]@1032", "(2, 3)");
      expectSame("[2,3," + w + "]", "[2,3,2]", "(2)");
      expectSame("[2,3,4,5," + w + "]", "[2,3,2,3,2]", "(2, 3, 2)");
      expectSame("[2,3,4,5," + w + "]", "[2,3,1,1,1]", "(1, 1, 1)");
      expectSame("[2,3,4,5," + w + "]", "[2,3,3,1,1]", "(3, 1, 1)");
    }
    expectSame("[0,3,4,5]", "[0,3,1,1]", "(1, 1)");
  }
}

TEST(ChannelsLastPooling, Adaptive) {
  for (const char* op : {"max", "average"}) {
    for (const char* channels : {"1", "30", "960"}) {
      const std::string c = channels;
      expectMatchesReference("adaptive_pooling float32 [2," + c + ",7,7]@0231 -> [2," + c + ",1,1]@0231 {op=\"" + op +
                                 "\", output_size=(1, 1)}",
                             "channels_last");
    }
    expectMatchesReference("adaptive_pooling float32 [1,20,7,10]@0231 -> [1,20,3,4]@0231 {op=\"" + std::string(op) +
                               "\", output_size=(3, 4)}",
                           "channels_last");
    // Windows over channels, or over lines alone.
    expectMatchesReference("adaptive_pooling float32 [1,20,7,10]@0231 -> [1,6,3,4]@0231 {op=\"" + std::string(op) +
                               "\", output_size=(6, 3, 4)}",
                           "channels_last");
    expectMatchesReference("adaptive_pooling float32 [2,20,7,10]@0231 -> [2,20,7,4]@0231 {op=\"" + std::string(op) +
                               "\", output_size=(4)}",
                           "channels_last");
  }
}

// A sum of so many values in one piece would be off by 3e-5.
TEST(ChannelsLastPooling, AveragesOfLongLines) {
  CompareOptions options;
  options.values = Values::kSmooth;
  for (const char* channels : {"1", "9", "40"}) {
    const std::string c = channels;
    expectMatchesReference(
        "adaptive_pooling float32 [1," + c + ",300000]@021 -> [1," + c + ",1]@021 {op=\"average\", output_size=(1)}",
        "channels_last", options);
  }
}

TEST(PlanesPooling, WindowsStridesPaddingAndTails) {
  for (const char* op : {"max", "average"}) {
    for (const int out : {1, 2, 7, 8, 15, 16, 17, 33}) {
      for (const int stride : {1, 2, 3}) {
        for (const int window : {1, 2, 3, 5}) {
          const int in = (out - 1) * stride + window;
          const auto text = [](int height, int width) {
            return "[2,3," + std::to_string(height) + "," + std::to_string(width) + "]";
          };
          const std::string square = "[" + std::to_string(window) + ", " + std::to_string(window) + "]";
          const std::string strides = "[1, " + std::to_string(stride) + "]";
          const int height = window + 2;
          expectMatchesReferenceInBoth(
              pooling(op, text(height, in) + " -> " + text(3, out), square, strides, "[0, 0]", "[0, 0]"), "planes");
          const int pad = window / 2;
          const std::string pads = "[" + std::to_string(pad) + ", " + std::to_string(pad) + "]";
          const int padded = in - 2 * pad;
          if (padded > 0) {
            expectMatchesReferenceInBoth(
                pooling(op, text(height - 2 * pad, padded) + " -> " + text(3, out), square, strides, pads, pads),
                "planes");
          }
        }
      }
    }
    // Ceil mode: the last windows hang over.
    expectMatchesReferenceInBoth(pooling(op, "[1,6,40,40] -> [1,6,20,20]", "[3, 3]", "[2, 2]", "[0, 0]", "[0, 0]"),
                                 "planes");
    expectMatchesReferenceInBoth(pooling(op, "[1,6,85] -> [1,6,42]", "[4]", "[2]", "[1]", "[1]"), "planes");
  }
  for (const char* stride : {"[1, 1]", "[1, 2]", "[1, 3]"}) {
    const std::string width = stride[4] == '1' ? "36" : stride[4] == '2' ? "18" : "12";
    expectMatchesReferenceInBoth(pooling("max", "[1,2,9,40] -> [1,2,5," + width + "]", "[3, 3]", stride, "[0, 0]",
                                         "[0, 0]", "dilation=[2, 2], "),
                                 "planes");
  }
  expectMatchesReferenceInBoth(pooling("average", "[1,6,9,39] -> [1,6,5,20]", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]",
                                       "count_include_pad=false, "),
                               "planes");
  expectMatchesReferenceInBoth(
      pooling("average", "[1,6,9,39] -> [1,6,5,20]", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "divisor=7, "), "planes");
  expectMatchesReference(
      "pooling float32 [2,2,6,7,40] -> [2,2,3,4,20] {dilation=[1, 1, 1], op=\"max\", post_padding=[0, 1, 0], "
      "pre_padding=[0, 1, 0], stride=[2, 2, 2], window=[2, 3, 2]}",
      "planes");
}

TEST(PlanesPooling, MaximumOfSpecialValues) {
  CompareOptions options;
  options.values = Values::kSpecial;
  options.rtol = 0;
  options.atol = 0;
  for (const char* stride : {"[2, 1]", "[2, 2]", "[2, 3]"}) {
    const std::string width = stride[4] == '1' ? "37" : stride[4] == '2' ? "19" : "13";
    expectMatchesReferenceInBoth(
        pooling("max", "[1,40,9,37] -> [1,40,5," + width + "]", "[3, 3]", stride, "[1, 1]", "[1, 1]"), "planes",
        options);
  }
  expectMatchesReferenceInBoth(pooling("max", "[1,40,8,38] -> [1,40,4,19]", "[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]"),
                               "planes", options);
}

TEST(PlanesPooling, SaysWhatItCannotDo) {
  expectRefused(pooling("max", "[1,6,28,28]@0231 -> [1,6,14,14]@0231", "[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]"),
                "planes", "memory-order");
  expectRefused(pooling("max", "[6,28,28] -> [6,14,14]", "[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]"), "planes", "rank");
}

TEST(ChannelsLastPooling, SaysWhatItCannotDo) {
  expectRefused(pooling("max", "[1,6,28,28] -> [1,6,14,14]", "[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]"), "channels_last",
                "memory-order");
  expectRefused(pooling("max", "[6,28,28] -> [6,14,14]", "[2, 2]", "[2, 2]", "[0, 0]", "[0, 0]"), "channels_last",
                "rank");
}

TEST(Pooling, MaximaOfHalvesKeepNan) {
  for (const char* dtype : {"float16", "bfloat16"}) {
    for (const Values values : {Values::kSomeNan, Values::kSpecial}) {
      CompareOptions options;
      options.values = values;
      options.rtol = options.atol = 0;
      expectMatchesReference("pooling " + std::string(dtype) +
                                 " [2,80,9,11]@0231 -> [2,80,5,6]@0231 {dilation=[1, 1], op=\"max\", post_padding=[1, "
                                 "1], pre_padding=[1, 1], stride=[2, 2], window=[3, 3]}",
                             "halves", options);
    }
  }
  expectRefused(
      "pooling bfloat16 [2,24,9,11]@0231 -> [2,24,4,5]@0231 {dilation=[1, 1], op=\"max\", post_padding=[0, 0], "
      "pre_padding=[0, 0], stride=[2, 2], window=[2, 2]}",
      "halves", "channels");
}

}  // namespace
}  // namespace torchtrt::kernels
