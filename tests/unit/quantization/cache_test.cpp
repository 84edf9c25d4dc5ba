#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quantization/quantization.h"

namespace torchtrt::quantization {
namespace {

using ::testing::HasSubstr;

std::string errorOf(const std::string& text) {
  try {
    parseCache(text);
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    return error.message();
  }
  return "";
}

TEST(Cache, IsTextOfOneRangeALine) {
  Cache cache;
  cache.method = Method::kPercentile;
  cache.networks["2b"]["relu 1"] = {0, 6};
  cache.networks["1a"]["x"] = {-0.1, 1.0 / 3};
  cache.networks["1a"]["fc"] = {-2, 1e-30};
  cache.networks["3c"] = {};
  EXPECT_EQ(print(cache), R"(torchtrt calibration 1
method percentile 99.99
network 1a
range -2 1e-30 fc
range -0.1 0.3333333333333333 x
network 2b
range 0 6 relu 1
network 3c
)");
}

TEST(Cache, ComesBackAsItWas) {
  for (const Method method : {Method::kEntropy, Method::kMinMax, Method::kPercentile}) {
    Cache cache;
    cache.method = method;
    cache.percentile = method == Method::kPercentile ? 99.9 : cache.percentile;
    cache.symmetric = method != Method::kMinMax;
    cache.networks["1a"]["x\n\\ \x7f%"] = {-0.1, 1.0 / 3};
    cache.networks["1a"][" a  b "] = {0, 5e-324};
    const Cache parsed = parseCache(print(cache));
    EXPECT_EQ(print(parsed), print(cache));
    EXPECT_EQ(parsed.method, method);
    EXPECT_EQ(parsed.percentile, cache.percentile);
    EXPECT_EQ(parsed.symmetric, cache.symmetric);
    ASSERT_EQ(parsed.networks.at("1a").count("x\n\\ \x7f%"), 1U);
    EXPECT_EQ(parsed.networks.at("1a").at("x\n\\ \x7f%").high, 1.0 / 3);
    EXPECT_EQ(parsed.networks.at("1a").count(" a  b "), 1U);
  }
}

TEST(Cache, MayHaveEmptyLinesAndThoseOfWindows) {
  const Cache cache = parseCache("torchtrt calibration 1\r\n\r\nmethod minmax\r\nnetwork a\r\nrange 0 1 x\r\n\r\n");
  EXPECT_EQ(cache.method, Method::kMinMax);
  EXPECT_EQ(cache.networks.at("a").at("x").high, 1);
}

TEST(Cache, ErrorsNameTheLine) {
  const std::string head = "torchtrt calibration 1\nmethod entropy\n";
  const struct {
    std::string text;
    const char* error;
  } cases[] = {
      {"", "line 0 of the calibration cache: expected 'torchtrt calibration 1'"},
      {"torchtrt calibration 2\n", "line 1 of the calibration cache: expected 'torchtrt calibration 1'"},
      {"torchtrt calibration 1\n", "line 1 of the calibration cache: expected 'method', the text ends"},
      {"torchtrt calibration 1\nnetwork a\n", "line 2 of the calibration cache: expected 'method'"},
      {"torchtrt calibration 1\nmethod best\n", "line 2 of the calibration cache: there is no method 'best'"},
      {"torchtrt calibration 1\nmethod percentile\n",
       "line 2 of the calibration cache: expected the percentile behind 'method percentile'"},
      {"torchtrt calibration 1\nmethod entropy twice\n",
       "line 2 of the calibration cache: expected 'symmetric' or nothing behind the method, got 'twice'"},
      {head + "method entropy\n", "line 3 of the calibration cache: expected 'network'"},
      {head + "range 0 1 x\n", "line 3 of the calibration cache: expected 'network'"},
      {head + "network \n", "line 3 of the calibration cache: the network has no hash"},
      {head + "network \r\r", "line 3 of the calibration cache: the network has no hash"},
      {"torchtrt calibration 1\nmethod \xff\xfe\n",
       "line 2 of the calibration cache: there is no method '?"
       "?'"},
      {std::string("PK\3\4\0", 5), "the calibration cache is no text"},
      {"TRT-8601-EntropyCalibration2\nx: 3c010a14\n", "the calibration cache was written by NVIDIA's TensorRT"},
      {head + "network a\nnetwork a\n", "line 4 of the calibration cache: the network was there before"},
      {head + "network a\nrang 0 1 x\n", "line 4 of the calibration cache: expected 'network' or 'range'"},
      {head + "network a\n\nrange 0 x\n", "line 5 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 0 1\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 0 nan x\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange -inf 0 x\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 0 1e999 x\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 0 1z x\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 0 1 x\\q\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 0 1 x\\x0\n", "line 4 of the calibration cache: expected 'range', two finite numbers"},
      {head + "network a\nrange 1 0.5 x\n",
       "line 4 of the calibration cache: the range ends, at 0.5, below its start, 1"},
      {head + "network a\nrange 0 1 x\nrange 0 1 x\n",
       "line 5 of the calibration cache: the tensor 'x' has a range already"},
  };
  for (const auto& bad : cases) {
    EXPECT_THAT(errorOf(bad.text), HasSubstr(bad.error)) << bad.text;
  }
}

}  // namespace
}  // namespace torchtrt::quantization
