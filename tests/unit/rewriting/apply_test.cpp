// Users' rewriters: a copy is changed, checked, and takes the network's place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/net_guard.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = R"(network "n" () {
  input %x : float32[2]
  %a = unary(%x) {op="neg"}
  output "y" %a
})";

// Returns the error of applying the rewriter; the network must be as it was.
std::string errorOf(const NetworkRewriter& rewriter) {
  auto network = network::parse(kText);
  const std::string before = network::print(*network);
  try {
    applyRewriters(network, {rewriter});
  } catch (const Error& error) {
    EXPECT_EQ(network::print(*network), before);
    return error.what();
  }
  return "";
}

TEST(ApplyRewriters, RunInOrderInsideAGuard) {
  auto network = network::parse(kText);
  const auto wrap = [](const std::string& op) {
    return [op](Network& net) {
      EXPECT_EQ(NetGuard::current(), &net);
      net.replaceOutput(0, *net.addUnary(*net.getOutput(0), op)->getOutput(0));
    };
  };
  applyRewriters(network, {wrap("sin"), wrap("cos")});
  EXPECT_EQ(network->getNbLayers(), 3);
  EXPECT_EQ(network->getOutput(0)->producer()->attributes().getString("op"), "cos");
}

TEST(ApplyRewriters, TakePatternManagersWithArguments) {
  class SetOp : public PatternRewriter {
   public:
    SetOp() : PatternRewriter("set_op", {LayerType::kUNARY}) {}
    bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
      if (layer.attributes().getString("op") == args().getString("op")) {
        return false;
      }
      rewriter.setAttribute(layer, "op", args().getString("op"));
      return true;
    }
  };
  const auto manager = std::make_shared<RewritePatternManager>();
  manager->add("set", std::make_unique<SetOp>());
  Arguments args;
  args.set("op", std::string("abs"));
  auto network = network::parse(kText);
  applyRewriters(network, {asNetworkRewriter(manager, args)});
  EXPECT_EQ(network->getLayer(0)->attributes().getString("op"), "abs");
}

TEST(ApplyRewriters, ErrorsNamePatternAndLayerAndChangeNothing) {
  class Throws : public PatternRewriter {
   public:
    Throws() : PatternRewriter("throws", {}) {}
    bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
      rewriter.setAttribute(layer, "op", std::string("abs"));
      throw std::runtime_error("out of ideas");
    }
  };
  const auto manager = std::make_shared<RewritePatternManager>();
  manager->add("mine", std::make_unique<Throws>());
  EXPECT_THAT(errorOf(asNetworkRewriter(manager)), HasSubstr("pattern 'mine' on layer 'a' failed: out of ideas"));
}

TEST(ApplyRewriters, RefuseAnInvalidNetwork) {
  EXPECT_THAT(errorOf([](Network& net) { net.getLayer(0)->setAttribute("op", std::string("no such op")); }),
              HasSubstr("rewriter 0 of network 'n' left it invalid"));
}

TEST(ApplyRewriters, RefuseAnotherInterface) {
  EXPECT_THAT(errorOf([](Network& net) { net.markOutput(*net.getInput(0), "more"); }),
              HasSubstr("rewriter 0 of network 'n' changed its interface: expected input 'x' float32[2], output 'y' "
                        "float32[2], got input 'x' float32[2], output 'y' float32[2], output 'more' float32[2]"));
}

TEST(ApplyRewriters, NameARewriterThatFails) {
  EXPECT_THAT(errorOf([](Network&) { throw std::runtime_error("no"); }),
              HasSubstr("rewriter 0 of network 'n' failed: no"));
}

}  // namespace
}  // namespace torchtrt::rewriting
