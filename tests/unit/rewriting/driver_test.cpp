#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/matchers.h"
#include "torchtrt/net_guard.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kChain = R"(network "chain" () {
  input %x : float32[2, 3]
  %a = unary(%x) {op="neg"}
  %b = unary(%a) {op="abs"}
  %c = unary(%b) {op="exp"}
  output "y" %c
})";

std::string normalized(const std::string& text) {
  return network::print(*network::parse(text));
}

// A rewriter made of a function.
class Pattern1 : public PatternRewriter {
 public:
  using Body = std::function<bool(Layer&, Rewriter&)>;
  Pattern1(std::vector<LayerType> roots, Body body, int benefit = 0)
      : PatternRewriter("pattern1", std::move(roots), benefit), body_(std::move(body)) {}
  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    return body_(layer, rewriter);
  }

 private:
  Body body_;
};

std::unique_ptr<PatternRewriter> pattern(LayerType root, Pattern1::Body body, int benefit = 0) {
  return std::make_unique<Pattern1>(std::vector<LayerType>{root}, std::move(body), benefit);
}

// Replaces unary `from` by unary `to`.
std::unique_ptr<PatternRewriter> swapUnary(const std::string& from, const std::string& to, int benefit = 0) {
  return pattern(
      LayerType::kUNARY,
      [=](Layer& layer, Rewriter& rewriter) {
        if (layer.attributes().getString("op") != from) {
          return false;
        }
        Attributes attributes;
        attributes.set("op", to);
        rewriter.replaceLayer(layer,
                              {rewriter.create(LayerType::kUNARY, {layer.getInput(0)}, attributes).getOutput(0)});
        return true;
      },
      benefit);
}

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
  // From the end of the chain: takes the two layers before with it, one of which is still on the list.
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

TEST(Rewriter, ANewInputTakesThePlaceOfOneThatNothingReads) {
  const auto net = network::parse(R"(network "n" () {
  input %x : float32[2]
  input %y : float32[2]
  %a = unary(%x) {op="neg"}
  %b = unary(%y) {op="neg"}
  output "a" %a
  output "b" %b
})");
  RewritePatternManager manager;
  manager.add("double", pattern(LayerType::kUNARY, [](Layer& layer, Rewriter& rewriter) {
                if (layer.getInput(0)->getType() != DType::kFloat32 || layer.getInput(0)->getName() != "x") {
                  return false;
                }
                Tensor& input = rewriter.createInput("x", DType::kFloat64, {3});
                Layer& created = rewriter.create(LayerType::kUNARY, {&input}, layer.attributes());
                rewriter.replaceAllUsesByOtherType(*layer.getOutput(0), *created.getOutput(0));
                rewriter.markAsRemoved(layer);
                return true;
              }));
  RewriteOptions options;
  options.verify = true;
  manager.rewrite(*net, {}, options);
  EXPECT_EQ(network::print(*net), normalized(R"(network "n" () {
  input %x : float64[3]
  input %y : float32[2]
  %a = unary(%x) {op="neg"}
  %b = unary(%y) {op="neg"}
  output "a" %a
  output "b" %b
})"));
}

TEST(Rewriter, AReplacementOfAnotherTypeMustSuitItsReaders) {
  const auto net = network::parse(R"(network "n" () {
  input %x : float32[2]
  input %y : float32[3]
  %a = unary(%x) {op="neg"}
  %b = elementwise(%a, %x) {op="sum"}
  output "b" %b
})");
  Rewriter rewriter(*net);
  EXPECT_THROW(rewriter.replaceAllUsesByOtherType(*net->findTensor("a"), *net->getInput(1)), CompileError);
}

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

TEST(Rewriter, TellsListenersOfEveryEdit) {
  class Recorder : public RewriteListener {
   public:
    void layerCreated(Layer& layer) override {
      events.push_back("created " + layer.attributes().getString("op"));
    }
    void layerChanged(Layer& layer) override {
      events.push_back("changed " + layer.attributes().getString("op"));
    }
    void usesReplaced(Tensor& from, Tensor& to, size_t) override {
      events.push_back("replaced " + from.producer()->attributes().getString("op") + " by " + to.getName());
    }
    void layerRemoved(Layer& layer) override {
      events.push_back("removed " + layer.attributes().getString("op"));
    }
    std::vector<std::string> events;
  };
  const auto net = network::parse(kChain);
  RewritePatternManager manager;
  manager.add("neg_to_sin", swapUnary("neg", "sin"));
  manager.add("cosine", pattern(LayerType::kUNARY, [](Layer& layer, Rewriter& rewriter) {
                if (layer.attributes().getString("op") != "sin") {
                  return false;
                }
                rewriter.setAttribute(layer, "op", std::string("cos"));
                return true;
              }));
  Recorder recorder;
  RewriteOptions options;
  options.listeners = {&recorder};
  manager.rewrite(*net, {}, options);
  EXPECT_THAT(recorder.events, ElementsAre("created sin", "replaced neg by a", "removed neg", "changed cos"));
}

TEST(Rewriter, RefusesAReplacementOfAnotherShapeOrDtype) {
  const auto net = network::parse(R"(network "n" () {
  input %x : float32[2, 3]
  input %y : float32[3]
  input %z : float64[2, 3]
  %a = unary(%x) {op="neg"}
  output "a" %a
})");
  Rewriter rewriter(*net);
  EXPECT_THROW(rewriter.replaceAllUses(*net->findTensor("a"), *net->getInput(1)), InternalError);
  EXPECT_THROW(rewriter.replaceAllUses(*net->findTensor("a"), *net->getInput(2)), InternalError);
}

TEST(Rewriter, MergesTheLocationsOfWhatItReplaces) {
  const auto net = network::parse(kChain);
  net->findLayer("a")->setLocation({"model.py", 12, 4, "forward", "features.0"});
  net->findLayer("b")->setLocation({"model.py", 13, 4, "forward", "features.1"});
  RewritePatternManager manager;
  manager.add("fuse", pattern(LayerType::kUNARY, [](Layer& layer, Rewriter& rewriter) {
                if (layer.attributes().getString("op") != "abs") {
                  return false;
                }
                Attributes attributes;
                attributes.set("op", std::string("sin"));
                Tensor* x = layer.getInput(0)->producer()->getInput(0);
                rewriter.replaceLayer(layer, {rewriter.create(LayerType::kUNARY, {x}, attributes).getOutput(0)});
                return true;
              }));
  manager.rewrite(*net);
  const Location expected{"model.py", 12, 4, "forward", "features.0 + features.1"};
  EXPECT_EQ(net->findLayer("b")->location(), expected);
}

TEST(MergeLocations, NamesScopesOnceAndNotTooMany) {
  const auto at = [](const std::string& scope) { return Location{"m.py", 1, 1, "f", scope}; };
  EXPECT_EQ(mergeLocations({at("a"), at("b + a"), at("")}).scope, "a + b");
  EXPECT_EQ(mergeLocations({at("a"), at("b"), at("c"), at("d"), at("e")}).scope, "a + b + c + d + ...");
  EXPECT_EQ(mergeLocations({at("a + b + c + d + ..."), at("e")}).scope, "a + b + c + d + ...");
  EXPECT_TRUE(mergeLocations({}).empty());
}

}  // namespace
}  // namespace torchtrt::rewriting
