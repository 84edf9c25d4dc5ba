// Running sums and products of many lines against the reference, whose order of additions they keep.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

TEST(CumulativeLines, EveryAxisAndOrder) {
  for (const char* op : {"sum", "prod"}) {
    for (const char* shape : {"[1,1,1]", "[1,5000,1]", "[2,700,8]", "[2,70,9]", "[3,7,5]", "[3,8,17]", "[9,5,300]",
                              "[2,9,6]@021", "[2,9,6]@210", "[2,20,0]", "[17,600,3]", "[4,3,2,9]@0231"}) {
      for (const char* axis : {"0", "1", "2"}) {
        for (const Values values : {Values::kSmooth, Values::kSpecial}) {
          CompareOptions options;
          options.values = values;
          options.rtol = 0;
          options.atol = 0;
          options.float64_rounds = true;  // which NaN it is may differ
          for (const char* dtype : {"float32", "float64", "int64"}) {
            expectMatchesReference("cumulative " + std::string(dtype) + " " + shape + " -> " + shape +
                                       " {axis=" + axis + ", op=\"" + op + "\"}",
                                   "lines", options);
          }
        }
      }
    }
    expectMatchesReference("cumulative float32 [3,9,7] -> [3,9,7]@021 {axis=1, op=\"" + std::string(op) + "\"}",
                           "lines");
  }
  expectMatchesReference("cumulative bfloat16 [3,9,7] -> [3,9,7] {axis=1, op=\"sum\"}", "lines");
}

TEST(CumulativeLines, RefusesExtremes) {
  expectRefused("cumulative float32 [3,9]-> [3,9]xint64 [3,9] {axis=1, op=\"max\"}", "lines", "op");
  expectRefused("cumulative float32 [3,9] -> [3,9] {axis=1, op=\"logsumexp\"}", "lines", "op");
}

}  // namespace
}  // namespace torchtrt::kernels
