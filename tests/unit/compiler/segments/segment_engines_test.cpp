// A segment is a transaction: what throws, fails to build or disagrees is found, and told by node and reason.
#include "compiler/segments/segment_engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <cstdlib>

#include "builder/builder.h"
#include "compiler/compile.h"
#include "conversion/conversion.h"
#include "partitioning/partitioning.h"

namespace torchtrt::compiler {
namespace {

using ::testing::HasSubstr;
using Sizes = std::vector<int64_t>;

class Strict {
 public:
  explicit Strict(bool is_strict) : before_(isStrict()) {
    set(is_strict);
  }
  ~Strict() {
    set(before_);
  }
  Strict(const Strict&) = delete;
  Strict& operator=(const Strict&) = delete;

 private:
  static void set(bool is_strict) {
    setenv("TORCHTRT_STRICT", is_strict ? "1" : "0", /*overwrite=*/1);
  }
  bool before_;
};

std::shared_ptr<torch::jit::Graph> graphOf(const std::string& ir) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get());
  return graph;
}

ts::CompileSpec spec() {
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{2, 3})});
  spec.min_block_size = 1;
  return spec;
}

std::string reasonOf(const Report& report, const std::string& kind) {
  for (const Report::Node& node : report.nodes) {
    if (node.node.starts_with(kind)) {
      return node.target + ": " + node.reason;
    }
  }
  return "no such node";
}

// A converter with a bug: it throws.
std::shared_ptr<torch::jit::Graph> withThrowingConverter() {
  static const bool is_registered = [] {
    conversion::RegisterNodeConversionPatterns().pattern(
        {"aten::digamma(Tensor self) -> Tensor",
         [](conversion::ConversionCtx*, const torch::jit::Node*, conversion::args&) -> bool {
           throw std::runtime_error("the converter has a bug");
         }});
    return true;
  }();
  EXPECT_TRUE(is_registered);
  return graphOf(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::digamma(%a)
  %c : Tensor = aten::tanh(%b)
  return (%c))IR");
}

// A converter with a bug: it computes something else.
void registerWrongConverter() {
  static const bool is_registered = [] {
    conversion::RegisterNodeConversionPatterns().pattern(
        {"aten::special_bessel_j1(Tensor self) -> Tensor",
         [](conversion::ConversionCtx* ctx, const torch::jit::Node* n, conversion::args& args) -> bool {
           auto* layer = ctx->net->addUnary(*args[0].ITensorOrFreeze(ctx), "sin");
           ctx->AssociateValueAndTensor(n->outputs()[0], layer->getOutput(0));
           return true;
         }});
    return true;
  }();
  EXPECT_TRUE(is_registered);
}

// A converter that is right, and slow: it negates there and back.
void registerSlowConverter() {
  static const bool is_registered = [] {
    conversion::RegisterNodeConversionPatterns().pattern(
        {"aten::hypot(Tensor self, Tensor other) -> Tensor",
         [](conversion::ConversionCtx* ctx, const torch::jit::Node* n, conversion::args& args) -> bool {
           const auto squared = [&](size_t i) {
             return ctx->net->addUnary(*args[i].ITensorOrFreeze(ctx), "square")->getOutput(0);
           };
           auto* sum = ctx->net->addElementWise(*squared(0), *squared(1), "sum")->getOutput(0);
           auto* value = ctx->net->addUnary(*sum, "sqrt")->getOutput(0);
           for (int i = 0; i < 2000; ++i) {
             value = ctx->net->addUnary(*value, "neg")->getOutput(0);
           }
           ctx->AssociateValueAndTensor(n->outputs()[0], value);
           return true;
         }});
    return true;
  }();
  EXPECT_TRUE(is_registered);
}

const std::string kWrongInTheMiddle = R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::exp(%a)
  %c : Tensor = aten::special_bessel_j1(%b)
  %d : Tensor = aten::tanh(%c)
  %e : Tensor = aten::exp(%d)
  return (%e))IR";

// No segment shows this by itself: the first of the branch's two engines is right.
const std::string kWrongInABranch = R"IR(
graph(%x : Tensor):
  %dims : int[] = prim::Constant[value=[0, 1]]()
  %zero : float = prim::Constant[value=0.]()
  %false : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %a : Tensor = aten::sigmoid(%x)
  %sum : Tensor = aten::sum(%a, %dims, %false, %none)
  %number : float = aten::Float(%sum)
  %is_positive : bool = aten::gt(%number, %zero)
  %y : Tensor = prim::If(%is_positive)
    block0():
      %b : Tensor = aten::exp(%a)
      %c : Tensor = aten::lgamma(%b)
      %d : Tensor = aten::special_bessel_j1(%c)
      %e : Tensor = aten::tanh(%d)
      -> (%e)
    block1():
      -> (%a)
  %z : Tensor = aten::exp(%y)
  return (%z))IR";

Compiled compileWithSample(const std::string& ir, const at::Tensor& sample) {
  registerWrongConverter();
  ts::CompileSpec with_sample = spec();
  with_sample.sample_inputs = {sample};
  with_sample.torch_executed_ops = {"aten::lgamma"};
  return compile(Source{nullptr, "forward", graphOf(ir)}, with_sample);
}

TEST(Transaction, AConverterThatThrowsLeavesItsNodeToPyTorch) {
  const Strict strict(false);
  Compiled compiled = compile(Source{nullptr, "forward", withThrowingConverter()}, spec());
  EXPECT_EQ(compiled.report.engineSegments(), 2);
  EXPECT_EQ(reasonOf(compiled.report, "aten::digamma"), "torch: its converter fails: the converter has a bug");
  const at::Tensor x = at::rand({2, 3});
  EXPECT_TRUE(at::allclose(compiled.module.forward({x}).toTensor(), at::tanh(at::digamma(at::sigmoid(x)))));
}

TEST(Transaction, AConverterThatThrowsIsAnErrorWhereStrict) {
  const Strict strict(true);
  try {
    compile(Source{nullptr, "forward", withThrowingConverter()}, spec());
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the converter has a bug"));
  }
}

TEST(Transaction, WhatDisagreesOnTheSamplesIsBisectedToItsNode) {
  const Strict strict(false);
  const at::Tensor x = at::rand({2, 3});
  Compiled compiled = compileWithSample(kWrongInTheMiddle, x);
  EXPECT_EQ(compiled.report.engineSegments(), 2);
  EXPECT_EQ(compiled.report.torchSegments(), 1) << compiled.report.toText();
  EXPECT_THAT(reasonOf(compiled.report, "aten::special_bessel_j1"),
              HasSubstr("torch: the engine disagrees with PyTorch on the sample inputs: the largest difference is"));
  for (const char* kind : {"aten::sigmoid", "aten::exp", "aten::tanh"}) {
    EXPECT_EQ(reasonOf(compiled.report, kind), "engine: converts");
  }
  EXPECT_TRUE(at::allclose(compiled.module.forward({x}).toTensor(),
                           at::exp(at::tanh(at::special_bessel_j1(at::exp(at::sigmoid(x)))))));
}

TEST(Transaction, WhatDisagreesInABranchIsFoundWithTheWholeModule) {
  const Strict strict(false);
  const at::Tensor x = at::rand({2, 3});
  Compiled compiled = compileWithSample(kWrongInABranch, x);
  EXPECT_THAT(reasonOf(compiled.report, "aten::special_bessel_j1"),
              HasSubstr("torch: the engine disagrees with PyTorch on the sample inputs"));
  for (const char* kind : {"aten::sigmoid", "aten::exp", "aten::tanh"}) {
    EXPECT_EQ(reasonOf(compiled.report, kind), "engine: converts");
  }
  EXPECT_TRUE(at::allclose(compiled.module.forward({x}).toTensor(),
                           at::exp(at::tanh(at::special_bessel_j1(at::lgamma(at::exp(at::sigmoid(x))))))));
}

TEST(Transaction, WhatDisagreesIsAnErrorWhereStrict) {
  const Strict strict(true);
  for (const std::string& ir : {kWrongInTheMiddle, kWrongInABranch}) {
    try {
      compileWithSample(ir, at::rand({2, 3}));
      FAIL() << "no error";
    } catch (const InternalError& error) {
      EXPECT_THAT(error.what(), HasSubstr("disagrees with PyTorch on the sample inputs"));
    }
  }
}

// A builder that has no kernel for one kind of layer.
plan::Plan planWithoutUnaries(const network::Network& network) {
  for (int i = 0; i < network.getNbLayers(); ++i) {
    if (network.getLayer(i)->getType() == network::LayerType::kUNARY) {
      throw CompileError(ErrorCode::kBuildFailed, "there is no kernel for it");
    }
  }
  return builder::optimizeAndBuild(network);
}

// Engines for five pointwise nodes, made by a builder that may fail.
// An engine a thousand times slower than PyTorch, an operator that stays, another engine.
Compiled compileTuned(bool tune) {
  registerSlowConverter();
  ts::CompileSpec tuned(std::vector<Input>{Input(Sizes{64, 512})});
  tuned.min_block_size = 1;
  tuned.torch_executed_ops = {"aten::lgamma"};
  tuned.sample_inputs = {at::rand({64, 512})};
  tuned.tune = tune;
  return compile(Source{nullptr, "forward", graphOf(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::hypot(%x, %x)
  %b : Tensor = aten::lgamma(%a)
  %c : Tensor = aten::tanh(%b)
  %d : Tensor = aten::exp(%c)
  %e : Tensor = aten::silu(%d)
  return (%e))IR")},
                 tuned);
}

TEST(Tuning, LeavesToPyTorchWhatIsSlowerInAnEngine) {
  EXPECT_TRUE(reasonOf(compileTuned(false).report, "aten::hypot").starts_with("engine: "));
  const Compiled compiled = compileTuned(true);
  EXPECT_THAT(reasonOf(compiled.report, "aten::hypot"), HasSubstr("torch: slower than PyTorch on the sample inputs: "));
}

// No segment's graph leads there from the samples: it is timed on what reaches it when the module runs.
TEST(Tuning, ReachesEnginesInsideOfBranches) {
  registerSlowConverter();
  ts::CompileSpec tuned(std::vector<Input>{Input(Sizes{64, 512})});
  tuned.min_block_size = 1;
  tuned.sample_inputs = {at::rand({64, 512})};
  tuned.tune = true;
  const Compiled compiled = compile(Source{nullptr, "forward", graphOf(R"IR(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %s : Tensor = aten::sum(%x, %none)
  %is_any : bool = aten::Bool(%s)
  %r : Tensor = prim::If(%is_any)
    block0():
      %a : Tensor = aten::hypot(%x, %x)
      -> (%a)
    block1():
      -> (%x)
  return (%r))IR")},
                                    tuned);
  EXPECT_THAT(reasonOf(compiled.report, "aten::hypot"), HasSubstr("torch: slower than PyTorch on the sample inputs: "));
}

TEST(Tuning, NeedsSamplesAndSomethingToFallBackTo) {
  const auto graph = graphOf("graph(%x : Tensor):\n  %y : Tensor = aten::exp(%x)\n  return (%y)");
  ts::CompileSpec tuned = spec();
  tuned.tune = true;
  EXPECT_THROW(compile(Source{nullptr, "forward", graph}, tuned), CompileError);
  tuned.sample_inputs = {at::rand({2, 3})};
  tuned.require_full_compilation = true;
  EXPECT_THROW(compile(Source{nullptr, "forward", graph}, tuned), CompileError);
}

class FivePointwise {
 public:
  explicit FivePointwise(std::function<plan::Plan(const network::Network&)> plan_of) {
    SegmentOptions options;
    options.plan_of = std::move(plan_of);
    engines_ = std::make_unique<SegmentEngines>(lowered_, roles_, leaves_, options, clock_);
  }

  Failures run(const Failures& refused = {}) {
    partitioning::PartitioningOptions options;
    options.min_block_size = 1;
    options.refused.insert(refused.begin(), refused.end());
    partition_ = partitioning::partition(graph_, roles_, conversion::refusalOf, options);
    const Failures failures = engines_->convert(partition_);
    return failures.empty() ? engines_->build() : failures;
  }
  size_t count() const {
    return engines_->engines().size();
  }

 private:
  std::shared_ptr<torch::jit::Graph> graph_ = graphOf(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::relu(%a)
  %c : Tensor = aten::exp(%b)
  %d : Tensor = aten::tanh(%c)
  %e : Tensor = aten::relu(%d)
  return (%e))IR");
  lowering::LoweredGraph lowered_{
      graph_,          c10::FunctionSchema("forward", "", {c10::Argument("x", c10::TensorType::get())}, {}),
      "__torch__.Net", false,
      false,           {}};
  partitioning::Roles roles_{graph_};
  GraphInputs inputs_{{Input(Sizes{2, 3})}};
  InputLeaves leaves_ = matchInputs(inputs_, lowered_);
  PhaseClock clock_;
  partitioning::Partition partition_;
  std::unique_ptr<SegmentEngines> engines_;
};

TEST(Transaction, ABuildThatFailsIsBisectedToItsNode) {
  FivePointwise engines(planWithoutUnaries);
  const Failures failures = engines.run();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures.begin()->first->kind(), c10::Symbol::fromQualString("aten::exp"));
  EXPECT_EQ(failures.begin()->second.reason, "its engine fails to build: there is no kernel for it");
  EXPECT_TRUE(engines.run(failures).empty());
  EXPECT_EQ(engines.count(), 2U);
}

TEST(Transaction, ABuilderWithABugIsAnErrorWhereStrict) {
  const auto with_bug = [](const network::Network&) -> plan::Plan {
    throw std::runtime_error("the builder has a bug");
  };
  {
    const Strict strict(false);
    const Failures failures = FivePointwise(with_bug).run();
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failures.begin()->second.reason, "its engine fails to build: the builder has a bug");
  }
  const Strict strict(true);
  EXPECT_THROW(FivePointwise(with_bug).run(), InternalError);
}

}  // namespace
}  // namespace torchtrt::compiler
