// The fast pointwise layers against the reference: every op on ordinary and special values, every way of broadcasting.
#include <gtest/gtest.h>

#include <string>

#include "base/operations.h"
#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

// Relative accuracy of the vector functions; the absolute term covers results near zero of ops that subtract.
CompareOptions accurate(Values values) {
  CompareOptions options;
  options.values = values;
  options.rtol = 1e-6;
  options.atol = 2e-7;
  options.zeros_have_signs = true;
  return options;
}

TEST(VectorsActivation, EveryOpOnOrdinaryAndSpecialValues) {
  for (const Operation& each : activations()) {
    const std::string op(each.name);
    for (const char* parameters : {"alpha=0.25, beta=0.5", "alpha=1.0, beta=20.0"}) {
      for (const Values values : {Values::kSmooth, Values::kSpecial}) {
        expectMatchesReferenceInBoth(
            "activation float32 [3,1009] -> [3,1009] {" + std::string(parameters) + ", op=\"" + op + "\"}", "vectors",
            accurate(values));
      }
    }
  }
}

TEST(VectorsUnary, EveryOpOnOrdinaryAndSpecialValues) {
  for (const char* op :
       {"exp",   "log",   "sqrt",  "reciprocal", "rsqrt", "abs",  "neg",  "square", "ceil", "floor", "round",
        "trunc", "erf",   "expm1", "log1p",      "sin",   "cos",  "tan",  "asin",   "acos", "atan",  "sinh",
        "cosh",  "asinh", "acosh", "atanh",      "exp2",  "log2", "erfc", "log10",  "sign", "frac"}) {
    for (const Values values : {Values::kSmooth, Values::kSpecial}) {
      expectMatchesReferenceInBoth("unary float32 [5,1001] -> [5,1001] {op=\"" + std::string(op) + "\"}", "vectors",
                                   accurate(values));
    }
  }
}

TEST(VectorsUnary, TailsAndMemoryOrders) {
  for (const char* size : {"[]", "[0]", "[1]", "[3]", "[7]", "[17]", "[33]", "[70000]"}) {
    expectMatchesReferenceInBoth("unary float32 " + std::string(size) + " -> " + size + " {op=\"neg\"}", "vectors");
  }
  expectMatchesReferenceInBoth("unary float32 [2,5,7,9]@0231 -> [2,5,7,9] {op=\"neg\"}", "vectors");
  expectMatchesReferenceInBoth("unary float32 [2,5,7,9] -> [2,5,7,9]@0231 {op=\"neg\"}", "vectors");
  expectMatchesReferenceInBoth("unary float32 [2,5,7,9]@0231 -> [2,5,7,9]@0231 {op=\"neg\"}", "vectors");
}

TEST(VectorsUnary, SaysWhatItCannotDo) {
  expectRefused("unary float32 [3] -> [3] {op=\"lgamma\"}", "vectors", "op");
  expectRefused("unary float64 [3] -> [3] {op=\"lgamma\"}", "vectors", "op");
}

TEST(VectorsElementwise, EveryOp) {
  for (const Values values : {Values::kSmooth, Values::kSpecial}) {
    CompareOptions options;
    options.values = values;
    options.rtol = 0;
    options.atol = 0;
    const std::string problem = "elementwise float32 [2,3,701]x[2,3,701] -> [2,3,701] {op=\"";
    for (const char* op : {"sum", "sub", "prod", "div", "max", "min", "fmod", "mod", "floor_div", "trunc_div"}) {
      expectMatchesReferenceInBoth(problem + op + "\"}", "vectors", options);
    }
  }
}

TEST(VectorsElementwise, AnglesOfEveryQuadrantAndPowers) {
  for (const Values values : {Values::kExact, Values::kSmooth, Values::kSpecial}) {
    for (const char* op : {"atan2", "pow"}) {
      expectMatchesReferenceInBoth(
          "elementwise float32 [2,3,701]x[2,3,701] -> [2,3,701] {op=\"" + std::string(op) + "\"}", "vectors",
          accurate(values));
    }
  }
}

// Multiples of 1/8: quotients that are whole, and those that rounding might make whole.
TEST(VectorsElementwise, RemaindersOfMultiples) {
  CompareOptions options;
  options.rtol = 0;
  options.atol = 0;
  options.zeros_have_signs = true;
  for (const char* op : {"fmod", "mod", "floor_div", "trunc_div"}) {
    expectMatchesReferenceInBoth(
        "elementwise float32 [2,3,701]x[2,3,701] -> [2,3,701] {op=\"" + std::string(op) + "\"}", "vectors", options);
  }
}

TEST(VectorsElementwise, EveryWayOfBroadcasting) {
  for (const char* operands :
       {"[2,17,9,9]@0231x[2,17,1,1] -> [2,17,9,9]@0231", "[2,17,9,9]@0231x[1,17,1,1] -> [2,17,9,9]@0231",
        "[2,17,9,9]@0231x[17,1,1] -> [2,17,9,9]@0231", "[2,17,9,9]@0231x[2,1,9,9]@0231 -> [2,17,9,9]@0231",
        "[2,17,9,9]@0231x[2,17,9,9] -> [2,17,9,9]@0231", "[2,17,9,9]x[2,17,9,9]@0231 -> [2,17,9,9]",
        "[4,5]x[] -> [4,5]", "[]x[4,5] -> [4,5]", "[4,1]x[1,5] -> [4,5]", "[1,3000]x[7,1] -> [7,3000]",
        "[3,0,5]x[5] -> [3,0,5]", "[40000]x[40000] -> [40000]", "[5,1,7]x[6,1] -> [5,6,7]", "[]x[] -> []"}) {
    for (const char* activation : {"", "activation=\"relu\", "}) {
      expectMatchesReferenceInBoth("elementwise float32 " + std::string(operands) + " {" + activation + "op=\"sub\"}",
                                   "vectors");
    }
  }
}

TEST(VectorsElementwise, SaysWhatItCannotDo) {
  expectRefused("elementwise float32 [3]x[3] -> bool [3] {op=\"less\"}", "vectors", "dtype");
}

TEST(VectorsParametricRelu, SlopesOfChannelsAndElements) {
  CompareOptions exact;
  exact.values = Values::kSpecial;
  exact.rtol = 0;
  exact.atol = 0;
  for (const char* operands :
       {"[2,17,9,9]x[17,1,1] -> [2,17,9,9]", "[2,17,9,9]@0231x[17,1,1] -> [2,17,9,9]@0231", "[4,50]x[] -> [4,50]",
        "[4,50]x[50] -> [4,50]", "[4,50]x[4,50] -> [4,50]", "[]x[] -> []", "[3,0]x[1] -> [3,0]"}) {
    expectMatchesReferenceInBoth("parametric_relu float32 " + std::string(operands) + " {}", "vectors", exact);
  }
}

}  // namespace
}  // namespace torchtrt::kernels
