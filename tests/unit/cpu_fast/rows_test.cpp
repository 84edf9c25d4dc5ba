// Softmax, normalization and reduce against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

CompareOptions with(Values values) {
  CompareOptions options;
  options.values = values;
  return options;
}

TEST(VectorsSoftmax, RowsOfEveryLength) {
  for (const char* log : {"false", "true"}) {
    for (const char* size : {"1", "3", "7", "17", "33", "100", "1000"}) {
      const std::string shape = "[3,5," + std::string(size) + "]";
      const std::string text = "softmax float32 " + shape + " -> " + shape + " {axis=2, log=" + log + "}";
      expectMatchesReferenceInBoth(text, "vectors", with(Values::kSmooth));
      expectMatchesReferenceInBoth(text, "vectors", with(Values::kSpecial));
    }
    const std::string rest = std::string(", log=") + log + "}";
    expectMatchesReferenceInBoth("softmax float32 [2,20,3,3]@0231 -> [2,20,3,3]@0231 {axis=1" + rest, "vectors",
                                 with(Values::kSmooth));
    expectMatchesReferenceInBoth("softmax float32 [2,20,3] -> [2,20,3] {axis=1" + rest, "vectors",
                                 with(Values::kSmooth));
    expectMatchesReferenceInBoth("softmax float32 [2,0] -> [2,0] {axis=1" + rest, "vectors");
    expectMatchesReferenceInBoth("softmax float32 [0,7] -> [0,7] {axis=1" + rest, "vectors");
  }
}

TEST(VectorsSoftmax, ColumnsOfEveryWidth) {
  for (const char* log : {"false", "true"}) {
    const std::string rest = std::string(", log=") + log + "}";
    for (const char* shape : {"[2,1,5]", "[2,33,1]", "[3,7,3]", "[2,21,17]", "[1,100,300]", "[1,3000,40]", "[2,5,4,9]",
                              "[2,5,4,9]@0231", "[2,6,3,5]@0213"}) {
      for (const char* axis : {"0", "1", "2"}) {
        const std::string text =
            "softmax float32 " + std::string(shape) + " -> " + shape + " {axis=" + std::string(axis) + rest;
        expectMatchesReferenceInBoth(text, "vectors", with(Values::kSmooth));
        expectMatchesReferenceInBoth(text, "vectors", with(Values::kSpecial));
      }
    }
    expectMatchesReferenceInBoth("softmax float32 [2,7,0] -> [2,7,0] {axis=1" + rest, "vectors");
    expectMatchesReferenceInBoth("softmax float32 [2,9,5] -> [2,9,5]@021 {axis=1" + rest, "vectors",
                                 with(Values::kSmooth));
    expectMatchesReference("softmax float16 [2,9,5] -> [2,9,5] {axis=1" + rest, "vectors", with(Values::kSmooth));
  }
}

TEST(VectorsNormalization, LayerAndRms) {
  for (const char* mode : {"layer", "rms"}) {
    const std::string rest = "eps=1e-05, mode=\"" + std::string(mode) + "\"";
    for (const char* size : {"1", "5", "16", "33", "768"}) {
      const std::string n = size;
      expectMatchesReferenceInBoth(
          "normalization float32 [4,9," + n + "]x[" + n + "]x[" + n + "] -> [4,9," + n + "] {" + rest + "}", "vectors",
          with(Values::kSmooth));
    }
    expectMatchesReferenceInBoth(
        "normalization float32 [4,6,7]x[6,7]xnull -> [4,6,7] {" + rest + ", normalized_rank=2}", "vectors",
        with(Values::kSmooth));
    expectMatchesReferenceInBoth("normalization float32 [4,6,7] -> [4,6,7] {activation=\"relu\", " + rest + "}",
                                 "vectors", with(Values::kSmooth));
    expectMatchesReferenceInBoth("normalization float32 [2,6,5,5]@0231x[5] -> [2,6,5,5]@0231 {" + rest + "}", "vectors",
                                 with(Values::kSmooth));
  }
}

TEST(VectorsNormalization, Batch) {
  for (const char* order : {"", "@0231"}) {
    const std::string image = "[2,17,9,9]" + std::string(order);
    expectMatchesReferenceInBoth("normalization float32 " + image + "x[17]x[17]x[17]x[17] -> " + image +
                                     " {activation=\"relu\", eps=5.0, mode=\"batch\"}",
                                 "vectors", with(Values::kExact));
    expectMatchesReferenceInBoth("normalization float32 " + image + "x[17]!x[17]!x[17]!x[17]! -> " + image +
                                     " {activation=\"tanh\", eps=5.0, mode=\"batch\"}",
                                 "vectors", with(Values::kExact));
    expectMatchesReferenceInBoth(
        "normalization float32 " + image + "xnullx[17]!x[17]!x[17] -> " + image + " {eps=5.0, mode=\"batch\"}",
        "vectors", with(Values::kExact));
  }
  expectMatchesReferenceInBoth(
      "normalization float32 [30,17]xnullxnullx[17]!x[17]! -> [30,17] {eps=5.0, mode=\"batch\"}", "vectors");
  expectMatchesReferenceInBoth("normalization float32 [30,17]xnullxnullx[17]x[17] -> [30,17] {eps=5.0, mode=\"batch\"}",
                               "vectors");
}

TEST(VectorsNormalization, GroupAndInstance) {
  for (const char* mode : {"mode=\"instance\"", "groups=4, mode=\"group\""}) {
    const std::string rest = " {eps=1e-05, " + std::string(mode) + "}";
    for (const char* positions : {"1", "7", "33", "9,9"}) {
      const std::string image = "[2,8," + std::string(positions) + "]";
      expectMatchesReferenceInBoth("normalization float32 " + image + "x[8]x[8] -> " + image + rest, "vectors",
                                   with(Values::kSmooth));
    }
    expectMatchesReferenceInBoth("normalization float32 [2,8,9] -> [2,8,9]" + rest, "vectors", with(Values::kSmooth));
    expectMatchesReferenceInBoth("normalization float32 [2,8,5,5]@0231x[8] -> [2,8,5,5]@0231" + rest, "vectors",
                                 with(Values::kSmooth));
  }
  expectMatchesReferenceInBoth(
      "normalization float32 [2,8,9]xnullx[8] -> [2,8,9] {activation=\"relu\", eps=0.1, groups=2, mode=\"group\"}",
      "vectors", with(Values::kSmooth));
}

// Few and many channels, one block of pixels and several, with a rest of less than a pattern.
TEST(VectorsNormalization, GroupsOfChannelsLastImages) {
  const auto expectSame = [](const std::string& channels, const std::string& positions, const std::string& rest) {
    const std::string order = positions.find(',') == std::string::npos ? "@021" : "@0231";
    const std::string image = "[2," + channels + "," + positions + "]" + order;
    expectMatchesReferenceInBoth("normalization float32 " + image + "x[" + channels + "]x[" + channels + "] -> " +
                                     image + " {activation=\"relu\", eps=1e-05, " + rest + "}",
                                 "vectors", with(Values::kSmooth));
  };
  for (const char* positions : {"2", "33", "9,9", "29,31"}) {
    for (const char* channels : {"2", "6", "40"}) {
      expectSame(channels, positions, "mode=\"instance\"");
      expectSame(channels, positions, "groups=1, mode=\"group\"");
      expectSame(channels, positions, "groups=2, mode=\"group\"");
    }
  }
  expectSame("600", "9,9", "groups=30, mode=\"group\"");
}

// Weights of up to 1 amplify the rounding of one step in the next.
TEST(VectorsRecurrent, EveryOpBothWays) {
  CompareOptions options;
  options.atol = 1e-5;
  for (const std::string weights : {"", "!"}) {
    for (const char* reverse : {"false", "true"}) {
      const std::string rest = "\", reverse=" + std::string(reverse) + "}";
      const std::string state = "x[3,17] -> [5,3,17]x[3,17]";
      expectMatchesReference("recurrent float32 [5,3,51]x[51,17]" + weights + "x[51]" + state + " {op=\"gru" + rest,
                             "vectors", options);
      for (const char* op : {"rnn_tanh", "rnn_relu"}) {
        expectMatchesReference("recurrent float32 [5,3,17]x[17,17]" + weights + "xnull" + state + " {op=\"" + op + rest,
                               "vectors", options);
      }
      expectMatchesReference("recurrent float32 [5,3,68]x[68,17]" + weights +
                                 "xnullx[3,17]x[3,17] -> [5,3,17]x[3,17]x[3,17] {op=\"lstm" + rest,
                             "vectors", options);
      expectMatchesReference("recurrent float32 [0,3,68]x[68,17]" + weights +
                                 "xnullx[3,17]x[3,17] -> [0,3,17]x[3,17]x[3,17] {op=\"lstm" + rest,
                             "vectors", options);
      expectMatchesReference("recurrent float32 [2,0,68]x[68,17]" + weights +
                                 "xnullx[0,17]x[0,17] -> [2,0,17]x[0,17]x[0,17] {op=\"lstm" + rest,
                             "vectors", options);
    }
  }
}

const char* const kReductions[] = {"[3,5,37] -> [3,5] {axes=[2], keep_dims=false",
                                   "[3,5,37] -> [3,1,37] {axes=[1], keep_dims=true",
                                   "[3,5,37] -> [37] {axes=[0, 1], keep_dims=false",
                                   "[3,5,37] -> [5] {axes=[0, 2], keep_dims=false",
                                   "[3,5,37] -> [] {axes=[0, 1, 2], keep_dims=false",
                                   "[2,70,9,9]@0231 -> [2,70,1,1] {axes=[2, 3], keep_dims=true",
                                   "[2,70,9,9]@0231 -> [2,1,9,9] {axes=[1], keep_dims=true",
                                   "[2,300,9,9] -> [2,300] {axes=[2, 3], keep_dims=false",
                                   "[100000] -> [1] {axes=[0], keep_dims=true",
                                   "[1,960,7,7]@0231 -> [1,960,1,1]@0231 {axes=[2, 3], keep_dims=true",
                                   "[300,3] -> [300] {axes=[1], keep_dims=false",
                                   "[3,129,16] -> [3,129] {axes=[2], keep_dims=false",
                                   "[7,40,2,4] -> [7,40,1,1] {axes=[2, 3], keep_dims=true",
                                   "[257,32] -> [257] {axes=[1], keep_dims=false",
                                   "[257,33] -> [257] {axes=[1], keep_dims=false",
                                   "[3,2,300] -> [2,300] {axes=[0], keep_dims=false",
                                   "[9,4096] -> [9] {axes=[1], keep_dims=false",
                                   "[3,40001] -> [3] {axes=[1], keep_dims=false",
                                   "[20001,3] -> [3] {axes=[0], keep_dims=false",
                                   "[1,900,70] -> [1,1,70] {axes=[1], keep_dims=true",
                                   "[700,300] -> [300] {axes=[0], keep_dims=false"};

TEST(VectorsReduce, RowsColumnsAndBoth) {
  for (const char* op : {"sum", "avg", "max", "min"}) {
    for (const char* text : kReductions) {
      const std::string problem = "reduce float32 " + std::string(text) + ", op=\"" + op + "\"}";
      expectMatchesReferenceInBoth(problem, "vectors", with(Values::kExact));
      expectMatchesReferenceInBoth(problem, "vectors", with(Values::kSomeNan));
    }
  }
  expectMatchesReferenceInBoth("reduce float32 [3,0,4] -> [3,4] {axes=[1], keep_dims=false, op=\"sum\"}", "vectors");
  expectRefused("reduce float32 [3,4] -> [3] {axes=[1], keep_dims=false, op=\"prod\"}", "vectors", "op");
}

TEST(WideReduce, RowsColumnsAndBoth) {
  for (const char* op : {"prod", "norm1", "norm2", "logsumexp"}) {
    for (const char* text : kReductions) {
      const std::string problem = "reduce float32 " + std::string(text) + ", op=\"" + op + "\"}";
      expectMatchesReferenceInBoth(problem, "double_sums", with(Values::kSmooth));
      expectMatchesReferenceInBoth(problem, "double_sums", with(Values::kSomeNan));
      if (op != std::string("prod")) {  // products of the largest leave even double's range, in some orders
        expectMatchesReferenceInBoth(problem, "double_sums", with(Values::kSpecial));
      }
    }
  }
  expectMatchesReferenceInBoth("reduce float32 [3,0,4] -> [3,4] {axes=[1], keep_dims=false, op=\"prod\"}",
                               "double_sums");
  expectMatchesReference("reduce float16 [3,9] -> [3] {axes=[1], keep_dims=false, op=\"norm2\"}", "double_sums");
  expectRefused("reduce float32 [3,4] -> [3] {axes=[1], keep_dims=false, op=\"var\"}", "double_sums", "op");
}

TEST(TruthReduce, RowsColumnsAndBoth) {
  for (const char* op : {"any", "all"}) {
    for (const char* text : kReductions) {
      const std::string problem = "reduce bool " + std::string(text) + ", op=\"" + op + "\"}";
      expectMatchesReference(problem, "truth");
      expectMatchesReference(problem, "truth", with(Values::kSparse));
    }
  }
  expectMatchesReference("reduce bool [3,0,4] -> [3,4] {axes=[1], keep_dims=false, op=\"all\"}", "truth");
  expectRefused("reduce float32 [3,4] -> [3] {axes=[1], keep_dims=false, op=\"sum\"}", "truth", "dtype");
}

TEST(IntegerReduce, RowsColumnsAndBoth) {
  CompareOptions exact = with(Values::kWide);
  exact.rtol = 0;
  exact.atol = 0;
  for (const char* dtype : {"int64", "int32", "int16", "int8", "uint8"}) {
    for (const char* op : {"sum", "prod", "max", "min"}) {
      for (const char* text : kReductions) {
        expectMatchesReference(std::string("reduce ") + dtype + " " + text + ", op=\"" + op + "\"}", "integers", exact);
      }
    }
  }
  expectMatchesReference("reduce int64 [3,0,4] -> [3,4] {axes=[1], keep_dims=false, op=\"sum\"}", "integers");
  expectRefused("reduce float32 [3,4] -> [3] {axes=[1], keep_dims=false, op=\"sum\"}", "integers", "dtype");
}

// Problems of float32 with 16-bit operands, which are widened where they are read: off by a unit in the last place
// where float32's rounding decides.
void expectMatchesReferenceInHalves(const std::string& problem, const std::string& implementation, Values values) {
  for (const std::string dtype : {"float16", "bfloat16"}) {
    CompareOptions options = with(values);
    options.rtol = dtype == "float16" ? 0x1p-10 : 0x1p-7;
    options.atol = dtype == "float16" ? 1e-4 : 1e-6;  // small ones of float16 are 6e-8 apart
    const std::string float32 = "float32";
    expectMatchesReference(std::string(problem).replace(problem.find(float32), float32.size(), dtype), implementation,
                           options);
  }
}

TEST(HalfRows, Reductions) {
  for (const char* text : kReductions) {
    const auto check = [&](const char* op, const char* implementation) {
      for (const Values values : {Values::kExact, Values::kSomeNan}) {
        expectMatchesReferenceInHalves("reduce float32 " + std::string(text) + ", op=\"" + op + "\"}", implementation,
                                       values);
      }
    };
    for (const char* op : {"sum", "avg", "max", "min"}) {
      check(op, "vectors");
    }
    for (const char* op : {"prod", "norm1", "norm2", "logsumexp"}) {
      check(op, "double_sums");
    }
  }
  expectMatchesReferenceInHalves("reduce float32 [2,20,9,11]@2031 -> [2,9] {axes=[1,3], keep_dims=false, op=\"sum\"}",
                                 "vectors", Values::kExact);
  expectSafeForThreads("reduce bfloat16 [50,100] -> [100] {axes=[0], keep_dims=false, op=\"sum\"}", "vectors");
}

TEST(HalfRows, Softmax) {
  for (const char* log : {"false", "true"}) {
    for (const char* shape : {"[3,7,3]", "[2,21,17]", "[1,100,300]", "[1,3000,40]", "[2,5,33]@021", "[2,7,0]"}) {
      for (const char* axis : {"0", "1", "2"}) {
        expectMatchesReferenceInHalves(
            "softmax float32 " + std::string(shape) + " -> " + shape + " {axis=" + axis + ", log=" + log + "}",
            "vectors", Values::kSmooth);
      }
    }
  }
}

TEST(HalfRows, Normalization) {
  for (const char* operands :
       {"[4,9,768]x[768]x[768] -> [4,9,768] {eps=1e-05, mode=\"layer\"}",
        "[4,9,33]x[33]xnull -> [4,9,33] {eps=1e-05, mode=\"rms\"}",
        "[4,6,7] -> [4,6,7] {activation=\"relu\", eps=1e-05, mode=\"layer\", normalized_rank=2}",
        "[2,17,9,9]x[17]x[17]x[17]x[17] -> [2,17,9,9] {activation=\"relu\", eps=5.0, mode=\"batch\"}",
        "[2,17,9,9]@0231x[17]xnullx[17]x[17] -> [2,17,9,9]@0231 {eps=5.0, mode=\"batch\"}",
        "[2,8,9,9]x[8]x[8] -> [2,8,9,9] {eps=1e-05, groups=4, mode=\"group\"}",
        "[2,8,5,5]@0231x[8] -> [2,8,5,5]@0231 {eps=1e-05, mode=\"instance\"}",
        "[2,40,31,37]@0231x[40]x[40] -> [2,40,31,37]@0231 {eps=1e-05, groups=4, mode=\"group\"}"}) {
    expectMatchesReferenceInHalves("normalization float32 " + std::string(operands), "vectors", Values::kExact);
  }
}

}  // namespace
}  // namespace torchtrt::kernels
