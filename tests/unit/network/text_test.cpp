// Text form: what is printed, what reads back, and what is said about text that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "network/text/numbers.h"
#include "torchtrt/network.h"

namespace torchtrt::network {
namespace {

constexpr const char* kNetwork = R"(network "sample" (n in [1, 2, 4], size.0 in [8, 8, 16]) {
  input %x : float32[n, 3, size.0, 8]
  %scale = constant() {} : float32[3] data=[1.0, -0.5, 1e+30]
  %norm = normalization(%x, %scale) {eps=0.125, groups=3, mode="group"} : float32[n, 3, size.0, 8]
  %"odd name\"\x0a", %indices = topk(%norm) {axis=3, k=[5]} : float32[n, 3, size.0, 5], int64[n, 3, size.0, 5] name="top"
  %flat = shuffle(%"odd name\"\x0a") {reshape_dims=[0, -1]} : float32[n, 15*size.0]
  %cast = cast(%flat) {to=float16} : float16[n, 15*size.0] name="another name"
  output "y" %cast
  output "again" %cast
  output "x" %x
}
)";

TEST(Text, ReadsBackExactly) {
  const auto network = parse(kNetwork);
  verify(*network);
  EXPECT_EQ(print(*network), kNetwork);
  EXPECT_EQ(network->name(), "sample");
  EXPECT_EQ(network->findSymbol("size.0")->max, 16);
  EXPECT_EQ(network->findLayer("another name")->getOutput(0)->getName(), "cast");
  EXPECT_NE(network->findTensor("odd name\"\n"), nullptr);
}

TEST(Text, LeavesOutWhatIsTheDefaultAndShowsTheRest) {
  Network network;
  Tensor* input = network.addInput("x", DType::kFloat32, {1, 3, 8, 8});
  Layer* pool = network.addPoolingNd(*input, "average", {2, 2});
  pool->setAttribute("count_include_pad", false);
  network.markOutput(*pool->getOutput(0), "y");
  EXPECT_EQ(print(network), R"(network "network" () {
  input %x : float32[1, 3, 8, 8]
  %pooling_0 = pooling(%x) {count_include_pad=false, dilation=[1, 1], op="average", post_padding=[0, 0], pre_padding=[0, 0], stride=[2, 2], window=[2, 2]} : float32[1, 3, 4, 4]
  output "y" %pooling_0
}
)");
}

TEST(Text, MayLeaveOutSymbolsAttributesAndTypes) {
  const auto network = parse(R"(
    # a comment
    network "short" {
      input %x : float32[2, 3]   # another
      %c = constant() : float32[] data=[2]
      %y = elementwise(%x,%c){op="prod"}
      %z = identity(%y)
      output "z" %z
    })");
  verify(*network);
  EXPECT_EQ(network->getOutput(0)->getDimensions(), (Dims{2, 3}));
  EXPECT_TRUE(network->findLayer("z")->location().empty()) << "comments that are no location are none";
}

TEST(Text, KeepsLocationsAndMemoryOrdersOnRequest) {
  Network network;
  network.setCurrentLocation({"dir/model.py", 12, 4, "forward", "features.0"});
  Tensor* input = network.addInput("x", DType::kFloat32, {1, 3, 8, 8});
  input->setMemoryOrder({0, 2, 3, 1});
  Layer* relu = network.addActivation(*input, "relu");
  network.setCurrentLocation({"model.py", 3, 0, "", ""});
  Layer* copy = network.addIdentity(*relu->getOutput(0));
  copy->getOutput(0)->setMemoryOrder({0, 1, 3, 2});
  network.markOutput(*copy->getOutput(0));
  EXPECT_EQ(print(network).find("model.py"), std::string::npos);
  EXPECT_EQ(print(network).find("order="), std::string::npos);
  PrintOptions options;
  options.locations = true;
  options.memory_orders = true;
  const std::string text = print(network, options);
  EXPECT_THAT(text, testing::HasSubstr("  # dir/model.py:12:4 (features.0)\n"));
  EXPECT_THAT(text, testing::HasSubstr("float32[1, 3, 8, 8] order=[0, 2, 3, 1]\n"));
  const auto parsed = parse(text);
  EXPECT_EQ(print(*parsed, options), text);
  EXPECT_EQ(parsed->getLayer(0)->location().scope, "features.0");
  EXPECT_EQ(parsed->getLayer(1)->location().line, 3);
  EXPECT_EQ(parsed->getInput(0)->memoryOrder(), (std::vector<uint8_t>{0, 2, 3, 1}));
}

TEST(Text, NamesLargeConstantsByContent) {
  Network network;
  std::vector<float> values(33, 1.5F);
  Tensor* large = network.addConstant(Weights::copyOf(DType::kFloat32, {3, 11}, values.data()))->getOutput(0);
  Tensor* again = network.addConstant(Weights::copyOf(DType::kFloat32, {33}, values.data()))->getOutput(0);
  network.markOutput(*large);
  network.markOutput(*again);
  const WeightStore store = collectWeights(network);
  ASSERT_EQ(store.size(), 1u) << "equal contents are stored once";
  const std::string text = print(network);
  EXPECT_THAT(text, testing::HasSubstr("float32[3, 11] data=@" + store.begin()->first));
  const auto parsed = parse(text, store);
  EXPECT_EQ(print(*parsed), text);
  EXPECT_EQ(parsed->getLayer(1)->weights()->dims, (std::vector<int64_t>{33}));
  EXPECT_EQ(parsed->getLayer(0)->weights()->data, store.begin()->second.data) << "the storage is shared";
  EXPECT_THROW(parse(text), CompileError);
  values[32] = 2;
  EXPECT_EQ(collectWeights(network).count(store.begin()->first), 1u) << "constants are copies";
}

TEST(Text, PrintsMalformedNetworksToo) {
  Network network;
  Tensor* input = network.addInput("x", DType::kFloat32, {4});
  network.markOutput(*network.addSoftMax(*input, 7)->getOutput(0));
  EXPECT_THAT(print(network), testing::HasSubstr("softmax(%x) {axis=7} : ?\n"));
}

struct WrongText {
  const char* body;
  const char* place;  // "line:column" or its beginning
  const char* message;
};

class WrongTexts : public testing::TestWithParam<WrongText> {};

TEST_P(WrongTexts, AreRefusedWithPlaceAndReason) {
  const auto& [body, place, message] = GetParam();
  try {
    parse("network \"wrong\" (n in [1, 2, 4]) {\n  input %x : float32[n, 4]\n" + std::string(body) + "\n}");
    FAIL() << "no error, expected " << message;
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidNetwork);
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
    EXPECT_THAT(error.what(), testing::HasSubstr("(at network text:" + std::string(place)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Text, WrongTexts,
    testing::Values(
        WrongText{"  %y = softmaxx(%x) {axis=0}", "3:8", "expected a kind of the layer table, got \"softmaxx\""},
        WrongText{"  %y = softmax(%z) {axis=0}", "3:16", "expected a tensor that is defined above, got %z"},
        WrongText{"  %x = softmax(%x) {axis=0}", "3:3", "expected a new name, got %x again"},
        WrongText{"  %y, %z = softmax(%x) {axis=0}", "3:12", "expected 1 results of softmax, got 2"},
        WrongText{"  %y = softmax(%x {axis=0}", "3:19", "expected \",\", got \"{axis=0}\""},
        WrongText{"  %y = softmax(%x) {axis=zero}", "3:26", "expected a value, got \"zero\""},
        WrongText{"  %y = softmax(%x) {axis=0} : float[n, 4]", "3:31", "expected a dtype, got \"float\""},
        WrongText{"  %y = softmax(%x) {axis=0} : float32[n, 5]", "3:8",
                  "expected type float32[n, 4] of %y, got float32[n, 5]"},
        WrongText{"  %y = softmax(%x) {axis=0} : float64[n, 4]", "3:8",
                  "expected type float32[n, 4] of %y, got float64[n, 4]"},
        WrongText{"  %y = softmax(%x) {axis=0} : float32[n, 4], float32[n, 4]", "3:8", "expected 1 types, got 2"},
        WrongText{"\n\n  %y = softmax(%x) {axis=3}", "5:8", "breaks rule \"axis\""},
        WrongText{"  input %z : float32[n+]", "3:", "expected a dimension, got \"n+\""},
        WrongText{"  input %z : float32[n", "3:", "expected a closing bracket"},
        WrongText{"  output \"y %x", "3:", "expected a closing quote"},
        WrongText{"  output \"\\q\" %x", "3:", "expected \\\", \\\\ or \\x in a quoted text"},
        WrongText{"  output \"y\" %x\n  output \"y\" %x", "4:", "expected a new name for an output, got \"y\" again"},
        WrongText{"  %c = constant()", "3:8", "expected the static type of a constant"},
        WrongText{"  %c = constant() : float32[n] data=[1]", "3:8", "expected the static type of a constant"},
        WrongText{"  %c = constant() : float32[-1] data=[]", "3:", "expected dims of a constant, got [-1]"},
        WrongText{"  %c = constant() : float32[4611686018427387904, 4] data=[]", "3:", "expected dims of a constant"},
        WrongText{"  %c = constant() : float32[2] data=[1]", "3:", "expected 2 elements, got 1"},
        WrongText{"  %c = constant() : int8[1] data=[128]", "3:", "expected an element of int8, got \"128\""},
        WrongText{"  %c = constant() : bool[1] data=[2]", "3:", "expected an element of bool, got \"2\""},
        WrongText{"  %c = constant() : float32[1] data=[one]", "3:", "expected an element of float32, got \"one\""},
        WrongText{"  %c = constant() : float32[40] data=@12ab",
                  "3:", "expected the data of constant @12ab beside the text"},
        WrongText{"  %y = softmax(%x) {axis=0} : float32[n, 4] order=[2, 0]",
                  "3:", "expected axes of [n, 4] in order, got 2"},
        WrongText{"  what", "3:3", "expected \"%\", got \"what\""}));

TEST(Text, RefusesTruncatedAndTrailingText) {
  const std::string text = kNetwork;
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_THROW(parse(text.substr(0, length)), CompileError) << length;
  }
  EXPECT_THROW(parse(text + "x"), CompileError);
  EXPECT_THROW(parse("network \"n\" (n in [3, 2, 1]) {}"), CompileError);
  EXPECT_THROW(parse("network \"n\" (n in [1, 2]) {}"), CompileError);
}

TEST(Numbers, DoublesReadBackAndShowThatTheyAreDoubles) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -0.0, 1.0, -2.5, 0.1, 1e300, 5e-324, infinity, -infinity}) {
    const std::string text = doubleText(value);
    EXPECT_NE(text.find_first_of(".en"), std::string::npos) << text;
    const double parsed = parseDouble(text).value();
    EXPECT_EQ(std::memcmp(&parsed, &value, sizeof(value)), 0) << text;
  }
  EXPECT_EQ(doubleText(3), "3.0");
  EXPECT_TRUE(std::isnan(parseDouble(doubleText(NAN)).value()));
  EXPECT_FALSE(parseDouble("1.0x").has_value());
}

TEST(Numbers, EveryHalfAndBFloatReadsBackToItsBits) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (int bits = 0; bits < 65536; ++bits) {
      const auto element = static_cast<uint16_t>(bits);
      const std::string text = elementText(dtype, &element);
      uint16_t parsed = 0;
      ASSERT_TRUE(parseElement(dtype, text, &parsed)) << text;
      ASSERT_EQ(parsed, element) << toString(dtype) << " " << text;
    }
  }
}

TEST(Numbers, FloatsReadBackToTheirBits) {
  for (const uint32_t bits : {0x00000000U, 0x80000000U, 0x3f800000U, 0x00000001U, 0x7f7fffffU, 0x7f800000U, 0xff800000U,
                              0x7fc00000U, 0xffc00000U, 0x7f800001U, 0x3dcccccdU}) {
    const std::string text = elementText(DType::kFloat32, &bits);
    uint32_t parsed = 0;
    ASSERT_TRUE(parseElement(DType::kFloat32, text, &parsed)) << text;
    EXPECT_EQ(parsed, bits) << text;
  }
}

TEST(Numbers, HalvesRoundToNearestEven) {
  const auto half = [](const char* text) {
    uint16_t bits = 0;
    EXPECT_TRUE(parseElement(DType::kFloat16, text, &bits)) << text;
    return bits;
  };
  EXPECT_EQ(half("0.1"), 0x2e66);
  EXPECT_EQ(half("1"), 0x3c00);
  EXPECT_EQ(half("2049"), half("2048")) << "a tie goes to the even neighbour";
  EXPECT_EQ(half("2051"), half("2052"));
  EXPECT_EQ(half("65519"), 0x7bff);
  EXPECT_EQ(half("1e-8"), 0x0000);
  uint16_t bits = 0;
  EXPECT_FALSE(parseElement(DType::kFloat16, "65520", &bits)) << "too large for the format";
  EXPECT_FALSE(parseElement(DType::kFloat16, "0x10000", &bits));
}

TEST(Numbers, IntegersKeepTheirRange) {
  int64_t wide = 0;
  EXPECT_TRUE(parseElement(DType::kInt64, "-9223372036854775808", &wide));
  EXPECT_EQ(elementText(DType::kInt64, &wide), "-9223372036854775808");
  int16_t narrow = 0;
  EXPECT_FALSE(parseElement(DType::kInt16, "32768", &narrow));
  EXPECT_TRUE(parseElement(DType::kInt16, "-32768", &narrow));
  uint8_t byte = 0;
  EXPECT_TRUE(parseElement(DType::kUInt8, "255", &byte));
  EXPECT_EQ(elementText(DType::kUInt8, &byte), "255");
  EXPECT_FALSE(parseElement(DType::kUInt8, "-1", &byte));
}

}  // namespace
}  // namespace torchtrt::network
