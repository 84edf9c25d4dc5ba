// Pointwise layers of float16 and bfloat16 against the reference, which rounds the same numbers once: what the
// functions of float32 are off by moves a result to the next number at the most.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

class HalfPointwise : public ::testing::TestWithParam<const char*> {
 protected:
  static CompareOptions closely(Values values) {
    CompareOptions options;
    options.values = values;
    options.rtol = std::string(GetParam()) == "float16" ? 0x1p-10 : 0x1p-7;  // a unit in the last place
    options.atol = 1e-6;
    options.zeros_have_signs = true;
    return options;
  }
  static CompareOptions exact() {
    CompareOptions options = closely(Values::kSpecial);
    options.rtol = 0;
    options.atol = 0;
    return options;
  }
  static std::string layer(const std::string& kind, const std::string& operands, const std::string& attributes) {
    return kind + " " + GetParam() + " " + operands + " {" + attributes + "}";
  }
};

TEST_P(HalfPointwise, FunctionsOnSpecialValues) {
  for (const char* op : {"relu", "sigmoid", "tanh", "clip", "gelu_erf", "gelu_tanh", "silu", "hard_swish", "elu"}) {
    expectMatchesReference(
        layer("activation", "[3,2009] -> [3,2009]", "alpha=0.25, beta=0.5, op=\"" + std::string(op) + "\""), "half",
        closely(Values::kSpecial));
  }
  for (const char* op : {"exp", "sqrt", "abs", "neg", "round", "erf", "rsqrt", "erfc", "log10", "asinh"}) {
    expectMatchesReference(layer("unary", "[3,2009] -> [3,2009]", "op=\"" + std::string(op) + "\""), "half",
                           closely(Values::kSpecial));
  }
}

TEST_P(HalfPointwise, ArithmeticIsTheReferencesToTheBit) {
  for (const char* op : {"sum", "sub", "prod", "div", "max", "min"}) {
    for (const char* activation : {"", "activation=\"relu\", "}) {
      expectMatchesReference(layer("elementwise", "[2,3,701]x[2,3,701] -> [2,3,701]",
                                   std::string(activation) + "op=\"" + std::string(op) + "\""),
                             "half", exact());
    }
  }
}

TEST_P(HalfPointwise, Powers) {
  for (const Values values : {Values::kExact, Values::kSmooth, Values::kSpecial}) {
    expectMatchesReference(layer("elementwise", "[2,3,701]x[2,3,701] -> [2,3,701]", "op=\"pow\""), "half",
                           closely(values));
  }
}

TEST_P(HalfPointwise, EveryWayOfBroadcasting) {
  for (const char* operands :
       {"[2,17,9,9]@0231x[2,17,1,1] -> [2,17,9,9]@0231", "[2,17,9,9]@0231x[17,1,1]! -> [2,17,9,9]@0231",
        "[2,17,9,9]@0231x[2,17,9,9] -> [2,17,9,9]@0231", "[2,17,9,9]x[2,17,9,9]@0231 -> [2,17,9,9]",
        "[4,5]x[] -> [4,5]", "[]x[4,5] -> [4,5]", "[4,1]x[1,5] -> [4,5]", "[1,3000]x[7,1] -> [7,3000]",
        "[3,0,5]x[5] -> [3,0,5]", "[40000]x[40000] -> [40000]", "[5,1,7]x[6,1] -> [5,6,7]", "[]x[] -> []"}) {
    expectMatchesReference(layer("elementwise", operands, "op=\"sub\""), "half", exact());
    expectMatchesReference(layer("parametric_relu", operands, ""), "half", exact());
  }
}

TEST_P(HalfPointwise, TailsAndMemoryOrders) {
  for (const char* size : {"[]", "[0]", "[1]", "[3]", "[7]", "[17]", "[1025]", "[70000]"}) {
    expectMatchesReference(layer("unary", std::string(size) + " -> " + size, "op=\"neg\""), "half", exact());
  }
  for (const char* orders :
       {"[2,5,7,9]@0231 -> [2,5,7,9]", "[2,5,7,9] -> [2,5,7,9]@0231", "[2,5,7,9]@0231 -> [2,5,7,9]@0231"}) {
    expectMatchesReference(layer("unary", orders, "op=\"neg\""), "half", exact());
  }
}

TEST_P(HalfPointwise, SaysWhatItCannotDo) {
  expectRefused(layer("unary", "[3] -> [3]", "op=\"lgamma\""), "half", "op");
  expectRefused(layer("elementwise", "[3]x[3] -> bool [3]", "op=\"less\""), "half", "op");
  expectRefused("unary float32 [3] -> [3] {op=\"exp\"}", "half", "dtype");
}

INSTANTIATE_TEST_SUITE_P(DTypes, HalfPointwise, ::testing::Values("float16", "bfloat16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace torchtrt::kernels
