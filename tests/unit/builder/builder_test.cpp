#include "builder/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run.h"

namespace torchtrt::builder {
namespace {

using ::testing::HasSubstr;
using torchtrt::network::parse;

constexpr const char* kDynamic = R"(network "dynamic" (n in [1, 4, 8]) {
  input %x : float32[n, 2, 3]
  %w = constant() {} : float32[6, 2] data=[1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1]
  %again = constant() {} : float32[6, 2] data=[1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1]
  %unused = constant() {} : float32[1] data=[5]
  %flat = shuffle(%x) {reshape_dims=[n, 6]}
  %a = matrix_multiply(%flat, %w) {}
  %b = matrix_multiply(%flat, %again) {activation="relu"}
  %dead = unary(%a) {op="neg"}
  %sum = elementwise(%a, %b) {op="sum"}
  %same = identity(%sum) {}
  output "y" %same
})";

TEST(Builder, EmitsWhatIsNeededAndNothingTwice) {
  const plan::Plan plan = buildText(kDynamic);
  EXPECT_EQ(plan.weights.size(), 1U);
  EXPECT_EQ(stepsOf(plan), "matrix_multiply matrix_multiply elementwise");
  EXPECT_EQ(plan.program.size(), 4U) << "n, 2, 3 and 6";
  const std::string text = plan::print(plan);
  EXPECT_THAT(text, HasSubstr("\"flat\" : float32[n, 6] view of %0"));
  EXPECT_THAT(text, HasSubstr("\"same\" : float32[n, 2] view of"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("dead")));
}

TEST(Builder, ItsPlanComputesWhatTheNetworkSays) {
  const auto engine = loadPlan(optimizeAndBuild(*parse(kDynamic)));
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};
  const auto outputs = runEngine(*engine, {network::Weights::copyOf(DType::kFloat32, {2, 2, 3}, values.data())});
  ASSERT_EQ(outputs.size(), 1U);
  const auto* y = outputs[0].as<float>();
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{18, 24, -9, -12}));
}

TEST(Builder, BytesAreAFunctionOfNetworkAndOptions) {
  const auto network = parse(kDynamic);
  const std::string before = network::print(*network);
  const std::string first = plan::serialize(optimizeAndBuild(*network));
  EXPECT_TRUE(plan::serialize(optimizeAndBuild(*network)) == first);
  EXPECT_TRUE(plan::serialize(optimizeAndBuild(*parse(kDynamic))) == first);
  EXPECT_EQ(network::print(*network), before) << "the network stays as it was";
}

TEST(Builder, RecordsOptions) {
  const plan::Plan plan = optimizeAndBuild(*parse(kDynamic), {.recorded = {{"device", "cpu"}}});
  EXPECT_THAT(plan::print(plan), HasSubstr("option device = cpu"));
}

TEST(Builder, KeepsLocations) {
  const auto network = parse(R"(network "n" () {
  input %x : float32[2]
  %y = unary(%x) {op="exp"}  # model.py:3:8 (head)
  output "y" %y
})");
  EXPECT_EQ(toString(optimizeAndBuild(*network).steps.at(0).location), "model.py:3:8 (head)");
}

TEST(Builder, Tf32IsAllowedInFloat32Alone) {
  const auto network = parse(R"(network "n" () {
  input %x : float32[1, 8, 4, 4]
  input %h : float16[2, 2]
  input %w : float32[8, 8, 1, 1]
  %c = convolution(%x, %w) {dilation=[1, 1], post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1]}
  %p = matrix_multiply(%c, %c)
  %q = matrix_multiply(%h, %h)
  output "p" %p
  output "q" %q
})");
  const auto allowed = [&](const BuildOptions& options) {
    std::vector<bool> result;
    for (const plan::Step& step : build(*network, options).steps) {
      if (step.family != "reformat") {
        result.push_back(step.attributes.getBool("tf32", false));
      }
    }
    return result;
  };
  EXPECT_EQ(allowed({}), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(allowed({.tf32_convolutions = true}), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(allowed({.tf32_products = true}), (std::vector<bool>{false, true, false}));
}

TEST(Builder, CompilesExpressions) {
  const plan::Plan plan = buildText(R"(network "n" (n in [1, 4, 8]) {
  input %x : float32[n, 7]
  %p = padding(%x) {pre=[1, 0], post=[n, 0]}
  %y = shuffle(%p) {reshape_dims=[-1]}
  output "y" %y
})");
  EXPECT_THAT(plan::print(plan), HasSubstr("float32[2*n+1, 7]"));
  EXPECT_THAT(plan::print(plan), HasSubstr("float32[14*n+7]"));
}

TEST(Builder, CompilesExtrema) {
  const auto engine = loadPlan(optimizeAndBuild(*parse(R"(network "n" (n in [1, 4, 8]) {
  input %x : float32[n]
  %y = padding(%x) {pre=[max(n, 3)], post=[min(n, 2)]}
  output "y" %y
})")));
  const auto length = [&](int64_t size) {
    const std::vector<float> values(8, 1.0F);
    return runEngine(*engine, {network::Weights::copyOf(DType::kFloat32, {size}, values.data())})[0].dims;
  };
  EXPECT_EQ(length(1), std::vector<int64_t>{3 + 1 + 1});
  EXPECT_EQ(length(5), std::vector<int64_t>{5 + 5 + 2});
}

// The range of a size that PyTorch computes begins at 0, where this module's own arithmetic ends.
TEST(Builder, ARangeMayReachFurtherThanTheArithmetic) {
  const auto engine = loadPlan(optimizeAndBuild(*parse(R"(network "n" (m in [0, 4, 8], n in [1, 8, 16]) {
  input %x : float32[m]
  input %z : float32[n]
  %y = shuffle(%z) {reshape_dims=[m, n//m]}
  output "y" %y
})")));
  EXPECT_EQ(engine->inputs()[0].min, std::vector<int64_t>({4})) << "the optimum";
  const auto vector = [](int64_t size) {
    const std::vector<float> values(8, 1.0F);
    return network::Weights::copyOf(DType::kFloat32, {size}, values.data());
  };
  EXPECT_EQ(runEngine(*engine, {vector(1), vector(5)})[0].dims, (std::vector<int64_t>{1, 5}));
  try {
    runEngine(*engine, {vector(0), vector(5)});
    FAIL();
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShapeArithmetic);
  }
}

TEST(Builder, RefusesAMalformedNetwork) {
  const auto network = parse(kDynamic);
  network->findLayer("sum")->setAttribute("op", std::string("glow"));
  EXPECT_THROW(optimizeAndBuild(*network), CompileError);
}

TEST(Builder, ASymbolThatNoInputHasIsAnError) {
  network::Network network;
  network.addSymbol({"n", 1, 2, 3});
  network::Tensor* x = network.addInput("x", DType::kFloat32, Dims{Dim(1)});
  network::Layer* y = network.addLayer(network::LayerType::kEXPAND, {x}, {});
  y->setAttribute("dims", Dims{Dim::symbol("n")});
  network.markOutput(*y->getOutput(0), "y");
  try {
    optimizeAndBuild(network);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBuildFailed);
    EXPECT_THAT(error.what(), HasSubstr("is not a dimension of any input"));
  }
}

TEST(Builder, SizesThatDoNotFitAtTheirOptimumAreNamed) {
  const auto network = parse(R"(network "net" (n in [2, 4, 8], m in [2, 5, 8]) {
  input %x : float32[n, 3]
  input %z : float32[m, 3]
  %y = elementwise(%x, %z) {op="sum"}
  output "y" %y
})");
  try {
    optimizeAndBuild(*network);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBuildFailed);
    EXPECT_THAT(error.what(), HasSubstr("where every size has its optimum: n = 4, m = 5"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("damaged")));
  }
}

}  // namespace
}  // namespace torchtrt::builder
