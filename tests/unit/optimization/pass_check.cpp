#include "optimization/pass_check.h"

#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "support/interpreter.h"
#include "torchtrt/plugin.h"

namespace torchtrt::optimization::testing {

namespace {

Options checkedOptions() {
  Options options;
  options.verify = true;
  options.check_changed = true;
  options.min_attention_queries = options.min_attention_keys = 1;
  return options;
}

void expectSameNumbers(const network::Network& before, const network::Network& after) {
  const auto inputs = torchtrt::testing::randomInputs(before, 1);
  const auto expected = torchtrt::testing::interpret(before, inputs);
  const auto got = torchtrt::testing::interpret(after, inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(torchtrt::testing::agree(got[i], expected[i], 1e-5)) << "output " << i;
  }
}

void expectText(const network::Network& before, const network::Network& after, const std::string& expected) {
  EXPECT_EQ(network::print(after), network::print(*network::parse(expected)));
  expectSameNumbers(before, after);
}

}  // namespace

void expectChanged(const std::string& pass, const std::string& before, const std::string& after) {
  plugin::registerBuiltinPlugins();
  const auto network = network::parse(before);
  const auto original = network->clone();
  EXPECT_TRUE(createManager({pass}, checkedOptions()).run(*network)) << pass << " changed nothing";
  expectText(*original, *network, after);
}

void expectKept(const std::string& pass, const std::string& text) {
  plugin::registerBuiltinPlugins();
  const auto network = network::parse(text);
  network::verify(*network);
  const std::string before = network::print(*network);
  EXPECT_FALSE(createManager({pass}, checkedOptions()).run(*network)) << pass << " changed the network";
  EXPECT_EQ(network::print(*network), before);
}

void expectOptimized(const std::string& before, const std::string& after) {
  plugin::registerBuiltinPlugins();
  const auto network = network::parse(before);
  const auto original = network->clone();
  optimize(*network, checkedOptions());
  expectText(*original, *network, after);
}

}  // namespace torchtrt::optimization::testing
