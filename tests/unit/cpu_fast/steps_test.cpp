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

TEST(HighwayQuantize, RowsOfEveryLength) {
  for (const char* size : {"1", "2", "7", "8", "9", "15", "16", "31", "33", "100", "4096", "10001"}) {
    const std::string shape = "[3," + std::string(size) + "]";
    for (const Values values : {Values::kSmooth, Values::kSpecial}) {
      expectMatchesReference(quantizeText(shape, shape, "int8", kSigned), "highway", exactly(values));
      expectMatchesReference(quantizeText(shape, shape, "uint8", kUnsigned), "highway", exactly(values));
    }
    expectMatchesReference(quantizeText(shape, shape, "int8", kTies), "highway", exactly(Values::kExact));
  }
}

TEST(HighwayQuantize, ScalesOfEverySize) {
  for (const char* scale : {"1.2e-38", "1e-20", "3.0", "3.4e38"}) {
    const std::string limits = "high=255, low=0, scale=" + std::string(scale) + ", zero_point=255";
    expectMatchesReference(quantizeText("[999]", "[999]", "uint8", limits), "highway", exactly(Values::kSpecial));
  }
}

TEST(HighwayQuantize, AnyOrderAndNothing) {
  expectMatchesReference(quantizeText("[2,5,6,7]@0231", "[2,5,6,7]@0231", "uint8", kUnsigned), "highway",
                         exactly(Values::kSpecial));
  expectMatchesReference(quantizeText("[2,5,6,7]", "[2,5,6,7]@0231", "uint8", kUnsigned), "highway",
                         exactly(Values::kSpecial));
  expectMatchesReference(quantizeText("[70,80]@10", "[70,80]", "int8", kSigned), "highway", exactly(Values::kSpecial));
  expectMatchesReference(quantizeText("[]", "[]", "int8", kSigned), "highway", exactly(Values::kSmooth));
  expectMatchesReference(quantizeText("[0,5]", "[0,5]", "int8", kSigned), "highway", exactly(Values::kSmooth));
}

TEST(HighwayDequantize, RowsAnyOrderAndNothing) {
  for (const char* dtype : {"int8", "uint8"}) {
    const auto text = [&](const std::string& from, const std::string& to) {
      return "dequantize " + std::string(dtype) + " " + from + " -> float32 " + to + " {scale=0.031, zero_point=19}";
    };
    for (const char* size : {"1", "7", "8", "9", "16", "33", "10001"}) {
      const std::string shape = "[3," + std::string(size) + "]";
      expectMatchesReference(text(shape, shape), "highway", exactly(Values::kExact));
    }
    expectMatchesReference(text("[2,5,6,7]@0231", "[2,5,6,7]"), "highway", exactly(Values::kExact));
    expectMatchesReference(text("[2,5,6,7]@0231", "[2,5,6,7]@0231"), "highway", exactly(Values::kExact));
    expectMatchesReference(text("[]", "[]"), "highway", exactly(Values::kExact));
    expectMatchesReference(text("[4,0]", "[4,0]"), "highway", exactly(Values::kExact));
  }
}

TEST(HighwayQuantize, IsSafeForThreads) {
  expectSafeForThreads(quantizeText("[64,3000]", "[64,3000]", "uint8", kUnsigned), "highway");
}

}  // namespace
}  // namespace torchtrt::kernels
