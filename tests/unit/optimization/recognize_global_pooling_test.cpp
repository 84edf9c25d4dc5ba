#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

std::string oneLayer(const std::string& type, const std::string& layers) {
  return "network \"n\" (s0 in [1, 2, 4], s1 in [0, 2, 4]) {\n  input %x : " + type + "\n" + layers +
         "  output \"y\" %y\n}";
}

void expectPooling(const std::string& type, const std::string& before, const std::string& after) {
  SCOPED_TRACE(before);
  expectChanged("recognize_global_pooling", oneLayer(type, "  %y = " + before + "\n"), oneLayer(type, after));
}

TEST(RecognizeGlobalPooling, FromTheMeanOverAPlane) {
  expectPooling("float32[2, 3, s0, 4]", "reduce(%x) {op=\"avg\", axes=[2, 3], keep_dims=true}",
                "  %y = adaptive_pooling(%x) {op=\"average\", output_size=[1, 1]}\n");
  expectPooling("float32[2, 3, 4, 4, 2]", "reduce(%x) {op=\"avg\", axes=[2, 3, 4], keep_dims=true}",
                "  %y = adaptive_pooling(%x) {op=\"average\", output_size=[1, 1, 1]}\n");
  expectPooling("float32[s0, 3, 4, 4]", "reduce(%x) {op=\"avg\", axes=[2, 3], keep_dims=false}",
                "  %adaptive_pooling_1 = adaptive_pooling(%x) {op=\"average\", output_size=[1, 1]}\n"
                "  %y = shuffle(%adaptive_pooling_1) {reshape_dims=[s0, 3]}\n");
}

TEST(RecognizeGlobalPooling, FromOneWindow) {
  expectPooling("float32[2, 3, 4, 5]", "pooling(%x) {op=\"average\", window=[4, 5]}",
                "  %y = adaptive_pooling(%x) {op=\"average\", output_size=[1, 1]}\n");
}

void expectNone(const std::string& type, const std::string& layer) {
  SCOPED_TRACE(layer);
  expectKept("recognize_global_pooling", oneLayer(type, "  %y = " + layer + "\n"));
}

TEST(RecognizeGlobalPooling, NotFromOtherReductions) {
  expectNone("float32[2, 3, 4, 4]", "reduce(%x) {op=\"max\", axes=[2, 3], keep_dims=true}");
  expectNone("float32[2, 3, 4, 4]", "reduce(%x) {op=\"avg\", axes=[3], keep_dims=true}");
  expectNone("float32[2, 3, 4, 4]", "reduce(%x) {op=\"avg\", axes=[1, 2, 3], keep_dims=true}");
  expectNone("float32[2, 3, 4]", "reduce(%x) {op=\"avg\", axes=[2], keep_dims=true}");
}

// The mean of nothing is NaN.
TEST(RecognizeGlobalPooling, NotWhereThePlaneMayBeEmpty) {
  expectNone("float32[2, 3, s1, 4]", "reduce(%x) {op=\"avg\", axes=[2, 3], keep_dims=true}");
}

TEST(RecognizeGlobalPooling, NotFromWindowsThatDiffer) {
  expectNone("float32[2, 3, 4, 4]", "pooling(%x) {op=\"average\", window=[2, 4]}");
  expectNone("float32[2, 3, 4, 4]", "pooling(%x) {op=\"max\", window=[4, 4]}");
  expectNone("float32[2, 3, 4, 4]", "pooling(%x) {op=\"average\", window=[4, 4], divisor=2}");
  expectNone("float32[2, 3, 4, 4]", "pooling(%x) {op=\"average\", window=[4, 4], stride=[4, 4], pre_padding=[1, 0]}");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
