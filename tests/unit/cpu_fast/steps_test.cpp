// Quantize and dequantize against the reference: not a bit may differ.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

CompareOptions exactly(Values values) {
  CompareOptions options;
  options.values = values;
  options.rtol = options.atol = 0;
  return options;
}

std::string quantizeText(const std::string& from, const std::string& to, const std::string& dtype,
                         const std::string& limits) {
  return "quantize float32 " + from + " -> " + dtype + " " + to + " {" + limits + ", to=" + dtype + "}";
}

constexpr const char* kSigned = "high=127, low=-127, scale=0.031, zero_point=0";
constexpr const char* kUnsigned = "high=251, low=3, scale=0.031, zero_point=117";
constexpr const char* kTies = "high=127, low=-128, scale=0.25, zero_point=-5";  // kExact holds eighths

TEST(VectorsQuantize, RowsOfEveryLength) {
  for (const char* size : {"1", "2", "7", "8", "9", "15", "16", "31", "33", "100", "4096", "10001"}) {
    const std::string shape = "[3," + std::string(size) + "]";
    for (const Values values : {Values::kSmooth, Values::kSpecial}) {
      expectMatchesReference(quantizeText(shape, shape, "int8", kSigned), "vectors", exactly(values));
      expectMatchesReference(quantizeText(shape, shape, "uint8", kUnsigned), "vectors", exactly(values));
    }
    expectMatchesReference(quantizeText(shape, shape, "int8", kTies), "vectors", exactly(Values::kExact));
  }
}

TEST(VectorsQuantize, ScalesOfEverySize) {
  for (const char* scale : {"1.2e-38", "1e-20", "3.0", "3.4e38"}) {
    const std::string limits = "high=255, low=0, scale=" + std::string(scale) + ", zero_point=255";
    expectMatchesReference(quantizeText("[999]", "[999]", "uint8", limits), "vectors", exactly(Values::kSpecial));
  }
}

TEST(VectorsQuantize, AnyOrderAndNothing) {
  expectMatchesReference(quantizeText("[2,5,6,7]@0231", "[2,5,6,7]@0231", "uint8", kUnsigned), "vectors",
                         exactly(Values::kSpecial));
  expectMatchesReference(quantizeText("[2,5,6,7]", "[2,5,6,7]@0231", "uint8", kUnsigned), "vectors",
                         exactly(Values::kSpecial));
  expectMatchesReference(quantizeText("[70,80]@10", "[70,80]", "int8", kSigned), "vectors", exactly(Values::kSpecial));
  expectMatchesReference(quantizeText("[]", "[]", "int8", kSigned), "vectors", exactly(Values::kSmooth));
  expectMatchesReference(quantizeText("[0,5]", "[0,5]", "int8", kSigned), "vectors", exactly(Values::kSmooth));
}

TEST(VectorsDequantize, RowsAnyOrderAndNothing) {
  for (const char* dtype : {"int8", "uint8"}) {
    const auto text = [&](const std::string& from, const std::string& to) {
      return "dequantize " + std::string(dtype) + " " + from + " -> float32 " + to + " {scale=0.031, zero_point=19}";
    };
    for (const char* size : {"1", "7", "8", "9", "16", "33", "10001"}) {
      const std::string shape = "[3," + std::string(size) + "]";
      expectMatchesReference(text(shape, shape), "vectors", exactly(Values::kExact));
    }
    expectMatchesReference(text("[2,5,6,7]@0231", "[2,5,6,7]"), "vectors", exactly(Values::kExact));
    expectMatchesReference(text("[2,5,6,7]@0231", "[2,5,6,7]@0231"), "vectors", exactly(Values::kExact));
    expectMatchesReference(text("[]", "[]"), "vectors", exactly(Values::kExact));
    expectMatchesReference(text("[4,0]", "[4,0]"), "vectors", exactly(Values::kExact));
  }
}

TEST(VectorsQuantize, IsSafeForThreads) {
  expectSafeForThreads(quantizeText("[64,3000]", "[64,3000]", "uint8", kUnsigned), "vectors");
}

}  // namespace
}  // namespace torchtrt::kernels
