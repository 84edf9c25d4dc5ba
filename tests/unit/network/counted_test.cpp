// Outputs of plugins that show their length when they have been computed: what the verifier refuses of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "torchtrt/network.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {
namespace {

// Its last output is a number of rows, of operands that it takes as they come.
class Counting : public plugin::Plugin {
 public:
  int outputCount() const override {
    return 3;
  }
  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0], {DType::kInt64, {}}, {inputs[0].dtype == DType::kFloat32 ? DType::kInt64 : DType::kInt32, {}}};
  }
  void enqueue(std::span<const plugin::InputView>, std::span<const plugin::OutputView>, void*, int) const override {}
};

class CountingCreator : public plugin::PluginCreator {
 public:
  std::string type() const override {
    return "Counting";
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes&) const override {
    return std::make_unique<Counting>();
  }
};

class CountingPlugins : public testing::Test {
 protected:
  CountingPlugins() {
    plugin::PluginRegistry::global().add(std::make_shared<CountingCreator>());
  }
  ~CountingPlugins() override {
    plugin::PluginRegistry::global().remove("", "Counting", "1");
  }
  static void verifyWith(const std::string& counted, const std::string& rest = "", const std::string& dtype = "float32",
                         const std::string& number = "int64[]") {
    verify(*parse("network \"p\" (n in [1, 2, 4]) {\n  input %x : " + dtype +
                  "[n]\n  %a, %b, %c = plugin_v2(%x) {counted=" + counted +
                  ", namespace=\"\", type=\"Counting\", version=\"1\"} : " + dtype + "[n], int64[], " + number + "\n" +
                  rest + "  output \"c\" %c\n}\n"));
  }
};

void expectRefused(const std::string& got, const std::function<void()>& action) {
  try {
    action();
    FAIL() << "no error, expected rule counted to be broken";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidNetwork);
    EXPECT_THAT(error.what(), testing::HasSubstr("breaks rule \"counted\": expected "));
    EXPECT_THAT(error.what(), testing::HasSubstr(", got " + got));
  }
}

TEST_F(CountingPlugins, WhatTheyCountIsReadByNoLayer) {
  verifyWith("[0]", "  %y = cast(%c) {to=float32}\n  output \"y\" %y\n  output \"a\" %a\n");
  expectRefused("layer", [] { verifyWith("[0]", "  %y = cast(%a) {to=int64}\n  output \"y\" %y\n"); });
}

TEST_F(CountingPlugins, CountOutputsThatTheyHaveAndThatHaveRows) {
  expectRefused("3", [] { verifyWith("[3]"); });
  expectRefused("-1", [] { verifyWith("[-1]"); });
  expectRefused("2", [] { verifyWith("[0, 2]"); });
  expectRefused("a tensor without dimensions", [] { verifyWith("[1]"); });
  expectRefused("a value of another type", [] { verifyWith("0"); });
}

TEST_F(CountingPlugins, CountInAnInt64Number) {
  expectRefused("int32[]", [] { verifyWith("[0]", "", "int32", "int32[]"); });
}

}  // namespace
}  // namespace torchtrt::network
