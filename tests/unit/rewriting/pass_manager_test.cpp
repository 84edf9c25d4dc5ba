#include "rewriting/pass_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchtrt::rewriting {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kText = R"(network "n" () {
  input %x : float32[2]
  %a = unary(%x) {op="neg"}
  output "a" %a
})";

std::unique_ptr<Pass> pass(const std::string& name, std::function<bool(Network&)> body) {
  return std::make_unique<FunctionPass>(name, std::move(body));
}

bool keep(Network&) {
  return false;
}

std::function<bool(Network&)> setOp(const std::string& op) {
  return [op](Network& net) {
    if (net.getLayer(0)->attributes().getString("op") == op) {
      return false;
    }
    net.getLayer(0)->setAttribute("op", op);
    return true;
  };
}

TEST(PassManager, RunsPassesInOrderUntilARoundChangesNothing) {
  const auto net = network::parse(kText);
  std::vector<std::string> ran;
  PassManager manager("test");
  manager.add(pass("one", [&](Network& n) {
    ran.push_back("one");
    return setOp("abs")(n);
  }));
  manager.add(pass("two", [&](Network&) {
    ran.push_back("two");
    return false;
  }));
  EXPECT_TRUE(manager.run(*net));
  EXPECT_THAT(ran, ElementsAre("one", "two", "one", "two"));
  EXPECT_FALSE(manager.run(*net));
}

TEST(PassManager, EndsPassesThatUndoEachOther) {
  const auto net = network::parse(kText);
  PassManager manager("test");
  manager.add(pass("there", setOp("abs")));
  manager.add(pass("back", setOp("neg")));
  try {
    manager.run(*net);
    FAIL() << "the passes came to an end";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kRewriteBudget);
  }
}

TEST(PassManager, LeavesOutDisabledPassesAndKnowsTheirNames) {
  const auto net = network::parse(kText);
  PassManagerOptions options;
  options.disabled = {"one"};
  PassManager manager("test", options);
  manager.add(pass("one", setOp("abs")));
  EXPECT_FALSE(manager.run(*net));
  options.disabled = {"on"};
  PassManager misspelt("test", options);
  misspelt.add(pass("one", keep));
  try {
    misspelt.run(*net);
    FAIL() << "an unknown pass was disabled";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    EXPECT_THAT(error.what(), HasSubstr("there is no pass named 'on' to disable"));
  }
}

TEST(PassManager, NamesThePassThatBrokeTheNetwork) {
  const auto net = network::parse(kText);
  PassManagerOptions options;
  options.verify = true;
  PassManager manager("test", options);
  manager.add(pass("harmless", keep));
  manager.add(pass("vandal", setOp("no such op")));
  try {
    manager.run(*net);
    FAIL() << "an invalid network passed";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pass 'vandal' left network 'n' invalid"));
  }
}

TEST(PassManager, NamesThePatternThatBrokeTheNetworkBeforeTheNextOneRuns) {
  class Vandal : public PatternRewriter {
   public:
    Vandal() : PatternRewriter("vandal", {LayerType::kUNARY}, 1) {}
    bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
      rewriter.setAttribute(layer, "op", std::string("no such op"));
      return true;
    }
  };
  class Repairs : public PatternRewriter {
   public:
    Repairs() : PatternRewriter("repairs", {LayerType::kUNARY}) {}
    bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
      rewriter.setAttribute(layer, "op", std::string("abs"));
      return true;
    }
  };
  const auto net = network::parse(kText);
  auto pass = std::make_unique<PatternPass>("pass");
  pass->add<Vandal>().add<Repairs>();
  PassManagerOptions options;
  options.verify = true;
  PassManager manager("test", options);
  manager.add(std::move(pass));
  try {
    manager.run(*net);
    FAIL() << "an invalid network passed";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("pattern 'vandal' on layer 'a': "));
  }
}

TEST(PassManager, CatchesALieAboutChanges) {
  PassManagerOptions options;
  options.check_changed = true;
  for (const bool claimed : {false, true}) {
    const auto net = network::parse(kText);
    PassManager manager("test", options);
    manager.add(pass("liar", [claimed](Network& n) {
      if (!claimed) {
        setOp("abs")(n);
      }
      return claimed;
    }));
    EXPECT_THROW(manager.run(*net), InternalError);
  }
}

TEST(PassManager, DumpsAfterThePassesThatTheExpressionNames) {
  const auto net = network::parse(kText);
  std::vector<std::string> dumped;
  PassManagerOptions options;
  options.dump_after = "^t";
  options.dump = [&](const std::string& name, const std::string& text) { dumped.push_back(name + "\n" + text); };
  PassManager manager("test", options);
  manager.add(pass("one", keep));
  manager.add(pass("two", keep));
  manager.run(*net);
  EXPECT_THAT(dumped, ElementsAre("two\n" + network::print(*net)));
}

}  // namespace
}  // namespace torchtrt::rewriting
