#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewriting/small_patterns.h"
#include "torchtrt/net_guard.h"

namespace torchtrt::rewriting::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Driver, ReplacesAddBySubAsTheDocumentDoes) {
  class ReplaceAddWithSub : public PatternRewriter {
   public:
    ReplaceAddWithSub() : PatternRewriter("replace_add_with_sub", {LayerType::kELEMENTWISE}) {}
    bool match(const Layer& layer) const override {
      return layer.attributes().getString("op") == "sum";
    }
    void rewrite(Layer& layer, Rewriter& rewriter) override {
      Attributes attributes;
      attributes.set("op", std::string("sub"));
      Layer& sub = rewriter.create(LayerType::kELEMENTWISE, {layer.getInput(0), layer.getInput(1)}, attributes);
      rewriter.replaceAllUses(*layer.getOutput(0), *sub.getOutput(0));
      rewriter.markAsRemoved(layer);
    }
  };
  const auto net = network::parse(R"(network "n" () {
  input %a : float32[2]
  input %b : float32[2]
  %c = elementwise(%a, %b) {op="sum"}
  output "c" %c
})");
  RewritePatternManager manager;
  manager.add("replace", std::make_unique<ReplaceAddWithSub>(), 10);
  EXPECT_EQ(manager.rewrite(*net).rewrites, 1u);
  network::verify(*net);
  EXPECT_EQ(network::print(*net), normalized(R"(network "n" () {
  input %a : float32[2]
  input %b : float32[2]
  %c = elementwise(%a, %b) {op="sub"}
  output "c" %c
})"));
}

TEST(Driver, TriesHigherBenefitFirstAndTiesInOrderOfAddition) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  std::vector<std::string> tried;
  const auto spy = [&](const std::string& name) {
    return [&tried, name](Layer& layer, Rewriter&) {
      if (layer.getName() == "a") {
        tried.push_back(name);
      }
      return false;
    };
  };
  manager.add("low", pattern(LayerType::kUNARY, spy("low")), -1);
  manager.add("first", pattern(LayerType::kUNARY, spy("first")));
  manager.add("second", pattern(LayerType::kUNARY, spy("second")));
  manager.add("high", pattern(LayerType::kUNARY, spy("high"), 5));
  manager.add("elsewhere", pattern(LayerType::kSOFTMAX, spy("elsewhere")), 9);
  EXPECT_FALSE(manager.rewrite(*net).changed());
  EXPECT_THAT(tried, ElementsAre("high", "first", "second", "low"));
}

TEST(Driver, FollowsChangesUntilNothingMatches) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  manager.add("neg_to_sin", swapUnary("neg", "sin"));
  manager.add("sin_to_cos", swapUnary("sin", "cos"));
  const RewriteSummary summary = manager.rewrite(*net);
  EXPECT_EQ(summary.rewrites, 2u);
  EXPECT_THAT(summary.by_label, ElementsAre(std::pair<std::string, size_t>("neg_to_sin", 1),
                                            std::pair<std::string, size_t>("sin_to_cos", 1)));
  network::verify(*net);
  EXPECT_EQ(network::print(*net), normalized(R"(network "chain" () {
  input %x : float32[2, 3]
  %a = unary(%x) {op="cos"}
  %b = unary(%a) {op="abs"}
  %c = unary(%b) {op="exp"}
  output "y" %c
})"));
}

TEST(Driver, NeverOffersARemovedLayerAgain) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  std::vector<std::string> offered;
  // Starts at the end of the chain and takes the two layers before with it, one of which is still on the list.
  manager.add("shortcut", pattern(LayerType::kUNARY, [&](Layer& layer, Rewriter& rewriter) {
                offered.push_back(layer.getName());
                if (layer.attributes().getString("op") != "neg") {
                  return false;
                }
                Layer& last = *layer.getOutput(0)->uses()[0].layer->getOutput(0)->uses()[0].layer;
                rewriter.replaceLayer(last, {layer.getInput(0)});
                return true;
              }));
  manager.rewrite(*net);
  EXPECT_THAT(offered, ElementsAre("a"));
  EXPECT_EQ(network::print(*net), normalized(R"(network "chain" () {
  input %x : float32[2, 3]
  output "y" %x
})"));
}

TEST(Driver, KeepsAMarkedLayerThatIsStillUsedAndOffersItNoMore) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  int offers = 0;
  manager.add("mark", pattern(LayerType::kUNARY, [&](Layer& layer, Rewriter& rewriter) {
                if (layer.attributes().getString("op") != "abs") {
                  return false;
                }
                ++offers;
                rewriter.markAsRemoved(layer);
                return true;
              }));
  manager.rewrite(*net);
  EXPECT_EQ(offers, 1);
  EXPECT_EQ(network::print(*net), normalized(kChain));
}

TEST(Driver, EndsPatternsThatUndoEachOtherAndNamesThem) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  manager.add("there", swapUnary("neg", "sin"));
  manager.add("back", swapUnary("sin", "neg"));
  RewriteOptions options;
  options.max_rewrites = 50;
  try {
    manager.rewrite(*net, {}, options);
    FAIL() << "the patterns came to an end";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kRewriteBudget);
    EXPECT_THAT(error.what(), HasSubstr("within 50 rewrites; the last were 'back' on 'a', 'there' on 'a', "));
  }
}

TEST(Driver, NamesThePatternAndTheLayerOfAnError) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  manager.add("broken", pattern(LayerType::kUNARY, [](Layer& layer, Rewriter& rewriter) {
                rewriter.removeLayer(layer);
                return true;
              }));
  try {
    manager.rewrite(*net);
    FAIL() << "a used layer was removed";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pattern 'broken' on layer 'a': "));
    EXPECT_THAT(error.what(), HasSubstr("layer 'a' is still used"));
  }
}

TEST(Driver, RefusesAPatternWithoutMatch) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  manager.add("empty", std::make_unique<PatternRewriter>("nothing", std::vector<LayerType>{}));
  try {
    manager.rewrite(*net);
    FAIL() << "a pattern without match ran";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pattern 'nothing' overrides neither match() nor matchAndRewrite()"));
  }
}

TEST(Driver, VerifiesAfterEveryRewriteOnRequest) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  manager.add("misnames", pattern(LayerType::kUNARY, [](Layer& layer, Rewriter& rewriter) {
                rewriter.setAttribute(layer, "op", std::string("no such op"));
                return true;
              }));
  RewriteOptions options;
  options.verify = true;
  try {
    manager.rewrite(*net, {}, options);
    FAIL() << "an invalid network passed";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pattern 'misnames' on layer 'a': "));
    EXPECT_THAT(error.what(), HasSubstr("no such op"));
  }
}

TEST(Driver, HoldsAGuardWhilePatternsRun) {
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  int seen = 0;
  manager.add("look", pattern(LayerType::kUNARY, [&](Layer&, Rewriter& rewriter) {
                seen += NetGuard::current() == net.get() && NetGuard::rewriterOf(*net) == &rewriter ? 1 : 0;
                return false;
              }));
  manager.rewrite(*net);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(NetGuard::current(), nullptr);
}

TEST(Driver, TracesRewritesOnRequest) {
  const auto net = network::parse(kChain);
  net->findLayer("a")->setLocation({"model.py", 12, 4, "forward", "net"});
  RewritePatternManager manager;
  manager.add("neg_to_sin", swapUnary("neg", "sin"));
  setenv("TORCHTRT_REWRITE", "trace", 1);
  ::testing::internal::CaptureStderr();
  manager.rewrite(*net);
  unsetenv("TORCHTRT_REWRITE");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "rewrite: 'neg_to_sin' on 'a' of 'chain' # model.py:12:4 (net)\n");
}

}  // namespace
}  // namespace torchtrt::rewriting::testing
