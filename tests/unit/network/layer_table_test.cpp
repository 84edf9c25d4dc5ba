#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "network/attribute_spec.h"
#include "torchtrt/network.h"

namespace torchtrt::network {
namespace {

TEST(LayerTable, NamesReadBack) {
  for (const LayerInfo& info : layerTable()) {
    EXPECT_EQ(parseLayerType(info.name), info.type);
    EXPECT_EQ(layerInfo(info.type).name, info.name);
  }
  EXPECT_FALSE(parseLayerType("CONVOLUTION").has_value());
  EXPECT_FALSE(parseLayerType("").has_value());
  EXPECT_STREQ(layerInfo(LayerType::kMATRIX_MULTIPLY).enum_name, "MATRIX_MULTIPLY");
}

TEST(LayerTable, AttributesAreRead) {
  const AttributeSpecs& pooling = attributeSpecs(LayerType::kPOOLING);
  EXPECT_EQ(pooling.find("op")->choices, (std::vector<std::string>{"max", "average"}));
  EXPECT_EQ(pooling.find("count_include_pad")->fallback, AttributeValue(true));
  EXPECT_EQ(pooling.find("divisor")->fallback, AttributeValue(int64_t{0}));
  EXPECT_FALSE(pooling.find("window")->fallback.has_value());
  EXPECT_EQ(pooling.find("activation"), nullptr);
  EXPECT_EQ(attributeSpecs(LayerType::kCONVOLUTION).find("activation")->fallback, AttributeValue(std::string()));
  EXPECT_TRUE(attributeSpecs(LayerType::kSHUFFLE).find("reshape_dims")->optional);
  EXPECT_EQ(attributeSpecs(LayerType::kPADDING).find("mode")->fallback, AttributeValue(std::string("constant")));
  EXPECT_TRUE(attributeSpecs(LayerType::kPLUGIN_V2).open);
  EXPECT_TRUE(attributeSpecs(LayerType::kIDENTITY).list.empty());
}

// docs/layers.md is generated. The test runs in the root of the repository.
TEST(LayerTable, IsWhatTheDocumentationSays) {
  std::ifstream file("docs/layers.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == layerTableMarkdown())
      << "docs/layers.md is old; write it again: build/release/bin/torchtrt-opt --list-layers > docs/layers.md";
}

}  // namespace
}  // namespace torchtrt::network
