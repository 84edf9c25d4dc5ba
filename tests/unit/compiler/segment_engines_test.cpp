// A segment is a transaction: what throws, fails to build or disagrees is found, and told by node and reason.
#include "compiler/segment_engines.h"

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

// A builder that has no kernel for one kind of layer.
plan::Plan planWithoutUnaries(const network::Network& network) {
  for (int i = 0; i < network.getNbLayers(); ++i) {
    if (network.getLayer(i)->getType() == network::LayerType::kUNARY) {
      throw CompileError(ErrorCode::kBuildFailed, "there is no kernel for it");
    }
  }
  return builder::build(network);
}

TEST(Transaction, ABuildThatFailsIsBisectedToItsNode) {
  const auto graph = graphOf(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::relu(%a)
  %c : Tensor = aten::exp(%b)
  %d : Tensor = aten::tanh(%c)
  %e : Tensor = aten::relu(%d)
  return (%e))IR");
  const lowering::LoweredGraph lowered{
      graph, c10::FunctionSchema("forward", "", {c10::Argument("x", c10::TensorType::get())}, {}), "__torch__.Net"};
  const partitioning::Roles roles(graph);
  const GraphInputs inputs({Input(Sizes{2, 3})});
  const InputLeaves leaves = matchInputs(inputs, lowered);
  PhaseClock clock;
  SegmentOptions options;
  options.plan_of = planWithoutUnaries;
  SegmentEngines engines(lowered, roles, leaves, options, clock);
  partitioning::PartitioningOptions partitioning;
  partitioning.min_block_size = 1;
  const auto first = partitioning::partition(graph, roles, conversion::refusalOf, partitioning);
  const Failures failures = engines.run(first);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures.begin()->first->kind(), c10::Symbol::fromQualString("aten::exp"));
  EXPECT_EQ(failures.begin()->second.reason, "its engine fails to build: there is no kernel for it");
  partitioning.refused.insert(failures.begin(), failures.end());
  const auto second = partitioning::partition(graph, roles, conversion::refusalOf, partitioning);
  EXPECT_TRUE(engines.run(second).empty());
  EXPECT_EQ(engines.engines().size(), 2U);
}

}  // namespace
}  // namespace torchtrt::compiler
