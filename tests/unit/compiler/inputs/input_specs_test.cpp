#include "compiler/inputs/input_specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include "compiler/inputs/dtype_inference.h"
#include "compiler/segments/value_types.h"
#include "partitioning/partitioning.h"

namespace torchtrt::compiler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Sizes = std::vector<int64_t>;

const c10::TypePtr kTensor = c10::TensorType::get();

lowering::LoweredGraph lowered(const std::string& ir, std::vector<c10::Argument> arguments) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get());
  return {graph, c10::FunctionSchema("forward", "", std::move(arguments), {}), "__torch__.Net", false, false, {}};
}

lowering::LoweredGraph twoTensors() {
  return lowered("graph(%x : Tensor, %y : Tensor):\n  %z : Tensor = aten::mul(%x, %y)\n  return (%z)",
                 {c10::Argument("x", kTensor), c10::Argument("y", kTensor)});
}

conversion::ConversionRequest requestFor(const GraphInputs& inputs, const lowering::LoweredGraph& graph,
                                         DataType open_dtype = DataType::kUnknown) {
  const auto partition = partitioning::partition(graph.graph, [](const torch::jit::Node&) { return std::nullopt; });
  const InputLeaves leaves = matchInputs(inputs, graph);
  conversion::ConversionRequest request;
  EXPECT_FALSE(ValueTypes(leaves, graph, open_dtype).describe(partition.segments.front(), request));
  return request;
}

std::string errorOf(const GraphInputs& inputs, const lowering::LoweredGraph& graph) {
  try {
    matchInputs(inputs, graph);
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidInputSpec);
    return error.what();
  }
  return "no error";
}

TEST(MatchInputs, GivesEveryTensorItsSpecification) {
  const auto request = requestFor(GraphInputs({Input(Sizes{2, 3}), Input(Sizes{1, 3}, DataType::kHalf)}), twoTensors());
  ASSERT_EQ(request.inputs.size(), 2U);
  EXPECT_EQ(request.inputs[0].name, "x");
  EXPECT_EQ(request.inputs[0].dims.toString(), "[2, 3]");
  EXPECT_EQ(request.inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(request.inputs[1].name, "y");
  EXPECT_EQ(request.inputs[1].dtype, DType::kFloat16);
  EXPECT_TRUE(request.symbols.empty());
}

TEST(MatchInputs, RangesBecomeSymbols) {
  const Input range(Sizes{1, 3}, Sizes{2, 3}, Sizes{4, 3});
  const auto request = requestFor(GraphInputs({range, range}), twoTensors());
  EXPECT_EQ(request.inputs[0].dims.toString(), "[s0, 3]");
  EXPECT_EQ(request.inputs[1].dims.toString(), "[s1, 3]");
  ASSERT_EQ(request.symbols.size(), 2U);
  EXPECT_EQ(request.symbols[0].min, 1);
  EXPECT_EQ(request.symbols[0].opt, 2);
  EXPECT_EQ(request.symbols[0].max, 4);
}

TEST(MatchInputs, DimensionsOfOneNameShareASymbol) {
  Input range(Sizes{1, 3}, Sizes{2, 3}, Sizes{4, 3});
  range.dim_names = {"batch"};
  const auto request = requestFor(GraphInputs({range, range}), twoTensors());
  EXPECT_EQ(request.inputs[1].dims.toString(), "[batch, 3]");
  EXPECT_EQ(request.symbols.size(), 1U);
  Input other(Sizes{1, 3}, Sizes{2, 3}, Sizes{8, 3});
  other.dim_names = {"batch"};
  EXPECT_THAT(errorOf(GraphInputs({range, other}), twoTensors()), HasSubstr("\"batch\" is used for different ranges"));
}

TEST(MatchInputs, ReachesIntoCollections) {
  const auto pair = c10::TupleType::create({kTensor, c10::TupleType::create({kTensor, kTensor})});
  const auto graph = lowered(R"IR(
graph(%p : (Tensor, (Tensor, Tensor)), %l : Tensor[]):
  %last : int = prim::Constant[value=-1]()
  %a : Tensor, %inner : (Tensor, Tensor) = prim::TupleUnpack(%p)
  %b : Tensor, %c : Tensor = prim::TupleUnpack(%inner)
  %d : Tensor = aten::__getitem__(%l, %last)
  %ac : Tensor = aten::mul(%a, %c)
  %y : Tensor = aten::mul(%ac, %d)
  return (%y))IR",
                             {c10::Argument("p", pair), c10::Argument("l", c10::ListType::ofTensors())});
  std::vector<Input> inputs;
  for (int64_t i = 1; i <= 5; ++i) {
    inputs.emplace_back(Sizes{i});
  }
  const auto request = requestFor(GraphInputs(inputs), graph);
  ASSERT_EQ(request.inputs.size(), 3U);
  EXPECT_EQ(request.inputs[0].name, "p_0");
  EXPECT_EQ(request.inputs[1].name, "p_1_1");
  EXPECT_EQ(request.inputs[1].dims.toString(), "[3]");
  EXPECT_EQ(request.inputs[2].name, "l_1");
  EXPECT_EQ(request.inputs[2].dims.toString(), "[5]");
}

TEST(MatchInputs, SaysWhatTheMethodTakes) {
  EXPECT_THAT(
      errorOf(GraphInputs({Input(Sizes{1})}), twoTensors()),
      AllOf(HasSubstr("__torch__.Net.forward takes forward(x: Tensor, y: Tensor)"), HasSubstr("got 1 input\n")));
  EXPECT_THAT(errorOf(GraphInputs(std::vector<Input>(3, Input(Sizes{1}))), twoTensors()), HasSubstr("got 3 inputs"));
}

TEST(MatchInputs, SaysWhereASignatureIsNestedOtherwise) {
  const auto graph =
      lowered("graph(%p : (Tensor, Tensor)):\n  %a : Tensor, %b : Tensor = prim::TupleUnpack(%p)\n  return (%a)",
              {c10::Argument("p", c10::TupleType::create({kTensor, kTensor}))});
  const c10::IValue input(c10::make_intrusive<Input>(Sizes{1}));
  const GraphInputs one(c10::ivalue::Tuple::create({c10::ivalue::Tuple::create({input})}));
  EXPECT_THAT(errorOf(one, graph), AllOf(HasSubstr("collection of 2 values"), HasSubstr("gives 1")));
}

TEST(DescribeInputs, AnOpenDtypeReplacesFloatingOnly) {
  const auto graph =
      lowered(R"IR(
graph(%x : Tensor, %table : Tensor, %scale : Tensor):
  %none : int = prim::Constant[value=-1]()
  %no : bool = prim::Constant[value=0]()
  %e : Tensor = aten::embedding(%table, %x, %none, %no, %no)
  %y : Tensor = aten::mul(%e, %scale)
  return (%y))IR",
              {c10::Argument("x", kTensor), c10::Argument("table", kTensor), c10::Argument("scale", kTensor)});
  const GraphInputs inputs({Input(Sizes{2}), Input(Sizes{4, 3}), Input(Sizes{3})});
  const auto request = requestFor(inputs, graph, DataType::kHalf);
  ASSERT_EQ(request.inputs.size(), 3U);
  for (const conversion::BlockInput& input : request.inputs) {
    EXPECT_EQ(input.dtype, input.name == "x" ? DType::kInt64 : DType::kFloat16) << input.name;
  }
}

TEST(InferDType, TakesTheConstantBeside) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(
      "graph(%x : Tensor, %w : Tensor):\n  %a : Tensor = aten::relu(%x)\n  %y : Tensor = aten::mul(%a, %w)\n  return "
      "(%y)",
      graph.get());
  graph->setInsertPoint(graph->nodes().front());
  graph->inputs()[1]->replaceAllUsesWith(graph->insertConstant(at::zeros({3}, at::kDouble)));
  EXPECT_EQ(inferDType(*graph->inputs()[0]), DType::kFloat64);
}

TEST(InferDType, IsFloatWhereNothingTells) {
  EXPECT_EQ(inferDType(*twoTensors().graph->inputs()[0]), DType::kFloat32);
}

}  // namespace
}  // namespace torchtrt::compiler
