// Casts, comparisons, integer arithmetic and selections by rows: equal to the reference in every bit.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

CompareOptions exact() {
  CompareOptions options;
  options.values = Values::kWide;
  options.rtol = 0;
  options.atol = 0;
  return options;
}

TEST(CastRows, EveryPairOfDtypes) {
  const char* const dtypes[] = {"float32", "float64", "float16", "bfloat16", "int64",
                                "int32",   "int16",   "int8",    "uint8",    "bool"};
  for (const std::string from : dtypes) {
    for (const std::string to : dtypes) {
      if (from != to) {
        expectMatchesReference("cast " + from + " [3,709] -> " + to + " [3,709] {to=" + to + "}", "rows", exact());
      }
    }
  }
}

TEST(CastRows, TailsAndMemoryOrders) {
  for (const char* size : {"[]", "[0]", "[1]", "[7]", "[31]", "[33]", "[70001]", "[3,0,5]"}) {
    expectMatchesReference("cast float32 " + std::string(size) + " -> float16 " + size + " {to=float16}", "rows",
                           exact());
    expectMatchesReference("cast uint8 " + std::string(size) + " -> float32 " + size + " {to=float32}", "rows",
                           exact());
  }
  for (const char* orders : {"[2,5,7,9]@0231 -> float16 [2,5,7,9]", "[2,5,7,9] -> float16 [2,5,7,9]@0231",
                             "[2,5,7,9]@0231 -> float16 [2,5,7,9]@0231"}) {
    for (const char* from : {"float32 ", "int64 ", "bfloat16 "}) {
      expectMatchesReference("cast " + std::string(from) + orders + " {to=float16}", "rows", exact());
    }
  }
}

TEST(ElementwiseRows, PredicatesOfEveryDtype) {
  for (const char* dtype :
       {"float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"}) {
    for (const char* op :
         {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "and", "or", "xor"}) {
      for (const char* operands : {" [3,201]x[3,201]", " [3,201]x[]", " []x[3,201]"}) {
        expectMatchesReference("elementwise " + std::string(dtype) + operands + " -> bool [3,201] {op=\"" + op + "\"}",
                               "rows", exact());
      }
    }
  }
}

TEST(ElementwiseRows, Bools) {
  for (const char* op : {"sum", "sub", "prod", "max", "min", "bitwise_and", "bitwise_or", "bitwise_xor"}) {
    expectMatchesReference("elementwise bool [3,201]x[3,201] -> [3,201] {op=\"" + std::string(op) + "\"}", "rows",
                           exact());
  }
}

TEST(UnaryRows, SignsAndBitsOfIntegers) {
  for (const char* dtype : {"int64", "int32", "int16", "int8", "uint8"}) {
    for (const char* op : {"abs", "neg", "sign", "square", "bitwise_not"}) {
      expectMatchesReference(std::string("unary ") + dtype + " [3,709] -> [3,709] {op=\"" + op + "\"}", "rows",
                             exact());
    }
  }
}

TEST(UnaryRows, Predicates) {
  for (const char* dtype :
       {"float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"}) {
    expectMatchesReference(std::string("unary ") + dtype + " [3,709] -> bool [3,709] {op=\"not\"}", "rows", exact());
  }
  for (const char* dtype : {"float32", "float64", "float16", "bfloat16"}) {
    for (const char* op : {"isnan", "isinf", "isfinite"}) {
      expectMatchesReference(std::string("unary ") + dtype + " [3,709] -> bool [3,709] {op=\"" + op + "\"}", "rows",
                             exact());
    }
  }
  expectMatchesReference("unary bool [3,709] -> [3,709] {op=\"bitwise_not\"}", "rows", exact());
}

TEST(UnaryRows, TailsAndMemoryOrders) {
  for (const char* size : {"[]", "[0]", "[1]", "[7]", "[31]", "[33]", "[70001]", "[3,0,5]"}) {
    expectMatchesReference("unary int32 " + std::string(size) + " -> " + size + " {op=\"neg\"}", "rows", exact());
  }
  for (const char* orders : {"[2,5,7,9]@0231 -> bool [2,5,7,9]", "[2,5,7,9] -> bool [2,5,7,9]@0231",
                             "[2,5,7,9]@0231 -> bool [2,5,7,9]@0231"}) {
    for (const char* dtype : {"float32 ", "bfloat16 "}) {
      expectMatchesReference("unary " + std::string(dtype) + orders + " {op=\"isnan\"}", "rows", exact());
    }
  }
}

TEST(ElementwiseRows, IntegersWrapAndDivideAsTheReference) {
  for (const char* dtype : {"int32", "int64", "int16", "int8", "uint8"}) {
    for (const char* op : {"sum", "sub", "prod", "max", "min", "bitwise_and", "bitwise_or", "bitwise_xor", "floor_div",
                           "trunc_div", "mod", "fmod"}) {
      for (const char* operands : {" [17,201]x[17,201]", " [17,201]x[]", " []x[17,201]", " [17,201]x[17,1]"}) {
        expectMatchesReference("elementwise " + std::string(dtype) + operands + " -> [17,201] {op=\"" + op + "\"}",
                               "rows", exact());
      }
    }
  }
}

TEST(ElementwiseRows, EveryWayOfBroadcasting) {
  for (const char* operands :
       {"[2,17,9,9]@0231x[2,17,1,1] -> [2,17,9,9]@0231", "[2,17,9,9]@0231x[2,1,9,9]@0231 -> [2,17,9,9]@0231",
        "[2,17,9,9]@0231x[2,17,9,9] -> [2,17,9,9]@0231", "[2,17,9,9]x[2,17,9,9]@0231 -> [2,17,9,9]",
        "[4,1]x[1,5] -> [4,5]", "[1,3000]x[7,1] -> [7,3000]", "[3,0,5]x[5] -> [3,0,5]", "[40000]x[40000] -> [40000]",
        "[5,1,7]x[6,1] -> [5,6,7]", "[]x[] -> []", "[1]x[1] -> [1]"}) {
    expectMatchesReference("elementwise int64 " + std::string(operands) + " {op=\"sub\"}", "rows", exact());
  }
}

TEST(ElementwiseRows, SaysWhatItCannotDo) {
  expectRefused("elementwise int64 [3]x[3] -> [3] {op=\"pow\"}", "rows", "dtype");
  expectRefused("elementwise float64 [3]x[3] -> [3] {op=\"sum\"}", "rows", "dtype");
}

TEST(SelectRows, EverySizeAndWayOfBroadcasting) {
  for (const char* dtype : {"float32", "float64", "float16", "int64", "uint8", "bool"}) {
    const std::string t = dtype;
    for (const std::string a : {"[3,205]", "[]", "[3,1]"}) {
      for (const std::string b : {"[3,205]", "[]", "[205]"}) {
        for (const std::string condition : {"[3,205]", "[3,1]", "[205]"}) {
          if (a == "[3,205]" || b == "[3,205]" || condition == "[3,205]") {
            expectMatchesReference(
                "select bool " + condition + "x" + t + " " + a + "x" + t + " " + b + " -> " + t + " [3,205] {}", "rows",
                exact());
          }
        }
      }
    }
    expectMatchesReference("select bool [2,5,7,9]x" + t + " [2,5,7,9]@0231x" + t + " [] -> " + t + " [2,5,7,9]@0231 {}",
                           "rows", exact());
    expectMatchesReference("select bool []x" + t + " []x" + t + " [] -> " + t + " [] {}", "rows", exact());
    expectMatchesReference("select bool [0,3]x" + t + " [3]x" + t + " [] -> " + t + " [0,3] {}", "rows", exact());
  }
}

TEST(TypedRows, AreSafeForThreads) {
  expectSafeForThreads("elementwise float32 [70000]x[70000] -> bool [70000] {op=\"less\"}", "rows");
  expectSafeForThreads("cast float16 [70000] -> int64 [70000] {to=int64}", "rows");
}

}  // namespace
}  // namespace torchtrt::kernels
