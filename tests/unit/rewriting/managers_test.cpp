// Labels, arguments, analyzers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewriting/small_patterns.h"
#include "torchtrt/matchers.h"

namespace torchtrt::rewriting::testing {
namespace {

using ::testing::ElementsAre;

TEST(Managers, HandArgumentsToPatternsWhileTheyRun) {
  class NeedsArgument : public PatternRewriter {
   public:
    NeedsArgument() : PatternRewriter("needs_argument", {LayerType::kUNARY}) {}
    bool match(const Layer&) const override {
      seen = args().getInt("batch_size");
      return false;
    }
    mutable int64_t seen = 0;
  };
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  auto& added = static_cast<NeedsArgument&>(manager.add("labelled", std::make_unique<NeedsArgument>()));
  Arguments args;
  args.set("batch_size", int64_t{8});
  manager.rewrite(*net, args);
  EXPECT_EQ(added.seen, 8);
  EXPECT_FALSE(added.args().has("batch_size"));
  EXPECT_EQ(manager.get("labelled"), &added);
  EXPECT_EQ(manager.get("needs_argument"), nullptr);
}

TEST(Managers, RefuseTwoPatternsOfOneLabel) {
  RewritePatternManager manager;
  manager.add("one", swapUnary("neg", "sin"));
  EXPECT_THROW(manager.add("one", swapUnary("sin", "neg")), CompileError);
}

TEST(Managers, AnalyzeOffersEveryLayerOnceInOrder) {
  class CollectPairs : public PatternAnalyzer {
   public:
    CollectPairs() : PatternAnalyzer("collect_pairs", {LayerType::kUNARY}) {}
    bool match(const Layer& layer, Subgraph& subgraph) const override {
      const Layer* before = nullptr;
      if (!m::match(layer, m::layer(LayerType::kUNARY).input(0, m::layer(LayerType::kUNARY).capture(&before)))) {
        return false;
      }
      subgraph.push_back(before);
      return true;
    }
    void analyze(const Subgraph& subgraph) override {
      pairs.push_back(subgraph[1]->getName() + subgraph[0]->getName());
    }
    std::vector<std::string> pairs;
  };
  const auto net = network::parse(kChain);
  AnalysisPatternManager manager;
  const auto& collector = static_cast<CollectPairs&>(manager.add("pairs", std::make_unique<CollectPairs>()));
  manager.analyze(*net);
  EXPECT_THAT(collector.pairs, ElementsAre("ab", "bc"));
}

}  // namespace
}  // namespace torchtrt::rewriting::testing
