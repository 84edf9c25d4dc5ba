// The network's rules include what a plugin says of the dtypes and shapes that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "network/broken_rule.h"
#include "torchtrt/network.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {
namespace {

class Pair : public plugin::Plugin {
 public:
  int outputCount() const override {
    return 2;
  }
  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1 && inputs[0] == DType::kFloat32;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs[0].dims.rank() == 3) {
      return {inputs[0]};
    }
    if (inputs[0].dims.rank() != 1) {
      throw std::runtime_error("expected a vector, got " + inputs[0].dims.toString());
    }
    const Dim twice = inputs[0].dims[0] * Dim(2);
    return {inputs[0], {DType::kInt64, {inputs[0].dims[0] == Dim(7) ? Dim(0) - twice : twice}}};
  }
  void enqueue(std::span<const plugin::InputView>, std::span<const plugin::OutputView>, void*, int) const override {}
};

class PairCreator : public plugin::PluginCreator {
 public:
  std::string type() const override {
    return "Pair";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes& fields) const override {
    if (fields.getDoubles("factors").size() != 2) {
      throw std::invalid_argument("expected two factors");
    }
    return std::make_unique<Pair>();
  }
};

class Plugins : public testing::Test {
 protected:
  Plugins() {
    plugin::PluginRegistry::global().add(std::make_shared<PairCreator>());
  }
  ~Plugins() override {
    plugin::PluginRegistry::global().remove("", "Pair", "1");
  }
  static std::string textOf(const std::string& input) {
    return "network \"p\" (n in [1, 2, 4]) {\n  input %x : " + input +
           "\n  %a, %b = plugin_v2(%x) {factors=doubles[0.5, 2.0], namespace=\"\", sizes=[1, 2], to=dims[n, 3], "
           "type=\"Pair\", "
           "version=\"1\"} : float32[n], int64[2*n] name=\"pair\"\n  output \"a\" %a\n}\n";
  }
};

TEST_F(Plugins, InferThroughTheRegistryAndReadBack) {
  const std::string text = textOf("float32[n]");
  const auto network = parse(text);
  verify(*network);
  EXPECT_EQ(print(*network), text);
  const Attributes& fields = network->getLayer(0)->attributes();
  EXPECT_EQ(fields.getDoubles("factors"), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(fields.getInts("sizes"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(fields.getDims("to").toString(), "[n, 3]");
}

TEST_F(Plugins, SayWhichDTypesAndShapesTheyTake) {
  expectBroken("dtypes", [] { parse(textOf("int64[n]")); });
  expectBroken("shapes", [] { parse(textOf("float32[n, 2]")); });
  expectBroken("shapes", [] { parse(textOf("float32[n, 2, 2]")); });
  expectBroken("shapes", [] { parse(textOf("float32[7]")); });
}

struct WrongField {
  const char* written;
  const char* instead;
  const char* message;
};

TEST_F(Plugins, RefuseFieldsThatAreMissingOrOfAnotherTypeWithTheirPlace) {
  for (const auto& [written, instead, message] : {
           WrongField{"factors=doubles[0.5, 2.0], ", "", "expected attribute \"factors\" of type doubles, got none"},
           {"factors=doubles[0.5, 2.0]", "factors=int8", "expected attribute \"factors\" of type doubles, got dtype"},
           {"factors=doubles[0.5, 2.0]", "factors=doubles[]", "cannot be made: expected two factors"},
           {"type=\"Pair\"", "type=float32", "expected attribute \"type\" of type string, got dtype"},
           {"type=\"Pair\", ", "", "expected attribute \"type\" of type string, got none"},
           {"namespace=\"\"", "namespace=3", "expected attribute \"namespace\" of type string, got int"},
           {"version=\"1\"", "version=[1]", "expected attribute \"version\" of type string, got ints"},
       }) {
    std::string text = textOf("float32[n]");
    text.replace(text.find(written), std::string_view(written).size(), instead);
    try {
      parse(text);
      ADD_FAILURE() << "no error for " << text;
    } catch (const CompileError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidNetwork) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
      EXPECT_EQ(error.location().line, 3) << error.what();
      EXPECT_EQ(error.location().column, 12) << error.what();
    }
  }
}

TEST_F(Plugins, AreCompileErrorsWhenNotRegistered) {
  plugin::PluginRegistry::global().remove("", "Pair", "1");
  try {
    parse(textOf("float32[n]"));
    FAIL() << "no error";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_THAT(error.what(), testing::HasSubstr("plugin Pair version 1 is not registered"));
  }
}

}  // namespace
}  // namespace torchtrt::network
