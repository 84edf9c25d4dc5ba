// Edits through the rewriter keep names, types and locations true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewriting/small_patterns.h"

namespace torchtrt::rewriting::testing {
namespace {

using ::testing::ElementsAre;

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
  EXPECT_EQ(mergeLocations({at("a + b + c + d + ..."), at("a")}).scope, "a + b + c + d + ...");
  EXPECT_TRUE(mergeLocations({}).empty());
}

}  // namespace
}  // namespace torchtrt::rewriting::testing
