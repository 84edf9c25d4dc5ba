// The registry, the contract with users' converters, refusals and errors; promotion against at::result_type.
#include <ATen/native/TypeProperties.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "conversion/convert_text.h"
#include "conversion/converters/call.h"

namespace torchtrt::conversion::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Those of torchvision, which this process has not, are compared in Python.
TEST(Registry, BuiltInSchemasAreLibtorchs) {
  const auto schemas = NodeConverterRegistry::instance().schemas();
  EXPECT_GT(schemas.size(), 200);
  for (const std::string& text : schemas) {
    const auto schema = torch::jit::parseSchema(text);
    if (schema.operator_name().name.rfind("torchvision::", 0) == 0) {
      continue;
    }
    const auto actual = torch::jit::findOperatorFor(schema.operator_name());
    ASSERT_NE(actual, nullptr) << text;
    EXPECT_EQ(actual->schema(), schema);
  }
}

// Stands in for an operator that nothing converts, so that other tests of this process are not touched.
TEST(Registry, AUsersConverterIsFoundByItsSchema) {
  const std::string text = R"(
graph(%x : Tensor):
  %k : int = prim::Constant[value=1]()
  %axis : int = prim::Constant[value=0]()
  %y : Tensor = aten::renorm(%x, %k, %axis, %k)
  return (%y))";
  const std::vector<Spec> inputs = {{DType::kFloat32, {2, 3}}};
  EXPECT_THAT(errorOf(text, inputs), HasSubstr("[C001] unable to convert node"));
  RegisterNodeConversionPatterns().pattern({"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> (Tensor)",
                                            [](ConversionCtx* ctx, const torch::jit::Node* n, args& args) -> bool {
                                              auto in = args[0].ITensor();
                                              EXPECT_EQ(args[2].unwrapToInt(), 0);
                                              EXPECT_EQ(args[3].unwrapToInt(7), 1);
                                              auto shuffle = ctx->net->addShuffle(*in);
                                              shuffle->setReshapeDimensions(
                                                  util::toDims(util::toVec(in->getDimensions())));
                                              shuffle->setName(util::node_info(n).c_str());
                                              ctx->AssociateValueAndTensor(n->outputs()[0], shuffle->getOutput(0));
                                              return true;
                                            }});
  EXPECT_EQ(layersOf(text, inputs), std::vector<std::string>{"shuffle float32[2, 3]"});
}

TEST(Registry, TextThatIsNoSchemaIsRefused) {
  try {
    NodeConverterRegistry::instance().add("no schema", nullptr);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
  }
}

// Document 002's text: the node, its schema, its source line, what to do.
TEST(Errors, AnUnsupportedOperator) {
  EXPECT_THAT(
      errorOf(R"(
graph(%x : Tensor):
  %axis : int = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %y : Tensor = aten::fft_hfft(%x, %none, %axis, %none)
  return (%y))",
              {{DType::kFloat32, {2, 3}}}),
      AllOf(HasSubstr("[C001] unable to convert node: %3 : Tensor = aten::fft_hfft(%x, %2, %1, %2)"),
            HasSubstr("schema: aten::fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"),
            HasSubstr("no converter is registered for aten::fft_hfft"),
            HasSubstr("RegisterNodeConversionPatterns().pattern({schema, converter})")));
}

std::string refusalCodeOf(const std::string& text,
                          std::optional<Refusal> (*question)(const torch::jit::Node&) = refusalOf) {
  const auto graph = parse(text);
  for (const torch::jit::Node* node : graph->nodes()) {
    if (const auto refusal = question(*node)) {
      return refusal->code;
    }
  }
  return "none";
}

TEST(Refusals, SayWhy) {
  EXPECT_EQ(refusalCodeOf("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)"), "none");
  EXPECT_EQ(refusalCodeOf("graph(%x : Tensor):\n  %y : Tensor = aten::relu_(%x)\n  return (%y)"), "mutation");
  EXPECT_EQ(refusalCodeOf("graph(%x : Tensor):\n  %y : Tensor = aten::det(%x)\n  return (%y)"), "no-converter");
  EXPECT_EQ(refusalCodeOf("graph(%x : Tensor):\n  %n : NoneType = prim::Constant()\n"
                          "  %y : Tensor = aten::bernoulli(%x, %n)\n  return (%y)"),
            "random");
  for (const char* dropout : {"0.", "0.5"}) {
    const std::string text = std::string(R"(
graph(%x : Tensor, %state : Tensor[], %weights : Tensor[]):
  %yes : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %dropout : float = prim::Constant[value=)") +
                             dropout + R"(]()
  %y : Tensor, %h : Tensor, %c : Tensor = aten::lstm(%x, %state, %weights, %yes, %one, %dropout, %yes, %yes, %yes)
  return (%y))";
    EXPECT_EQ(refusalCodeOf(text) == "random", std::string(dropout) == "0.5");
  }
  EXPECT_EQ(refusalCodeOf("graph(%x : Tensor):\n  %y : bool = aten::Bool(%x)\n  return (%y)"), "data-dependent");
  EXPECT_EQ(refusalCodeOf(R"(
graph(%x : Tensor, %condition : bool):
  %y : Tensor = prim::If(%condition)
    block0():
      -> (%x)
    block1():
      -> (%x)
  return (%y))"),
            "control-flow");
}

// n > 2 and n < 9, a branch that gives a bool, of a size or of the tensor's elements; then a branch on that.
std::string twoBranches(const std::string& number) {
  return R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %two : int = prim::Constant[value=2]()
  %nine : int = prim::Constant[value=9]()
  %no : bool = prim::Constant[value=0]()
  %n : int = )" +
         number + R"(
  %first : bool = aten::gt(%n, %two)
  %both : bool = prim::If(%first)
    block0():
      %second : bool = aten::lt(%n, %nine)
      -> (%second)
    block1():
      -> (%no)
  %y : Tensor = prim::If(%both)
    block0():
      %z : Tensor = aten::relu(%x)
      -> (%z)
    block1():
      -> (%x)
  return (%y))";
}

TEST(Refusals, BranchesOnWhatBranchesGive) {
  EXPECT_EQ(refusalCodeOf(twoBranches("aten::size(%x, %zero)")), "none");
  EXPECT_EQ(refusalCodeOf(twoBranches("aten::Int(%x)")), "data-dependent");
}

// for _ in range(3): n = n + step, while n < 9; then a branch on n.
std::string loopAndBranch(const std::string& step) {
  return R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %three : int = prim::Constant[value=3]()
  %nine : int = prim::Constant[value=9]()
  %yes : bool = prim::Constant[value=1]()
  %size : int = aten::size(%x, %zero)
  %n : int, %unused : int = prim::Loop(%three, %yes, %size, %zero)
    block0(%i : int, %before : int, %other : int):
      %step : int = )" +
         step + R"(
      %after : int = aten::add(%before, %step)
      %on : bool = aten::lt(%after, %nine)
      -> (%on, %after, %before)
  %large : bool = aten::gt(%n, %nine)
  %y : Tensor = prim::If(%large)
    block0():
      %z : Tensor = aten::relu(%x)
      -> (%z)
    block1():
      -> (%x)
  return (%y))";
}

TEST(Refusals, LoopsThatSizesEnd) {
  EXPECT_EQ(refusalCodeOf(loopAndBranch("aten::mul(%i, %three)")), "none");
  EXPECT_EQ(refusalCodeOf(loopAndBranch("aten::Int(%x)")), "control-flow");
}

TEST(Refusals, WarningsAreForPeopleWhereNothingMayStayInPyTorch) {
  const std::string text = R"(
graph(%x : Tensor):
  %message : str = prim::Constant[value="careful"]()
  %level : int = prim::Constant[value=2]()
  %two : int = prim::Constant[value=2]()
  %rank : int = aten::dim(%x)
  %flat : bool = aten::eq(%rank, %two)
  prim::If(%flat)
    block0():
      aten::warn(%message, %level)
      -> ()
    block1():
      -> ()
  %y : Tensor = aten::relu(%x)
  return (%y))";
  const std::vector<Spec> inputs = {{DType::kFloat32, {2, 3}}};
  EXPECT_THAT(errorOf(text, inputs), HasSubstr("aten::warn has effects"));
  EXPECT_EQ(layersOf(text, inputs, /*is_whole=*/true), std::vector<std::string>{"activation:relu float32[2, 3]"});
  const std::string always = R"(
graph(%x : Tensor):
  %message : str = prim::Constant[value="careful"]()
  %level : int = prim::Constant[value=2]()
  aten::warn(%message, %level)
  return (%x))";
  EXPECT_EQ(refusalCodeOf(always), "side-effects");
  EXPECT_EQ(refusalCodeOf(always, refusalOfWhole), "none");
}

TEST(Weights, ShareTheTensorsStorage) {
  network::Network network;
  ConversionCtx ctx(network);
  const at::Tensor kernel = at::ones({4, 3, 5, 7});
  const Weights weights(&ctx, kernel);
  EXPECT_EQ(weights.data.data.get(), kernel.data_ptr());
  EXPECT_EQ(weights.num_output_maps, 4);
  EXPECT_EQ(weights.num_input_maps, 3);
  EXPECT_EQ(weights.kernel_shape, (std::vector<int64_t>{5, 7}));
  const Weights turned(&ctx, kernel.transpose(0, 1));
  EXPECT_NE(turned.data.data.get(), kernel.data_ptr());
  EXPECT_EQ(turned.data.dims, (std::vector<int64_t>{3, 4, 5, 7}));
}

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
                             DType::kInt16,   DType::kInt32,   DType::kInt64,   DType::kUInt8,    DType::kBool};

// Every pair of dtypes, with and without dimensions.
TEST(Promotion, OfTensorsIsResultType) {
  network::Network network;
  for (const DType a : kDTypes) {
    for (const DType b : kDTypes) {
      for (const int ranks : {0, 1, 2, 3}) {
        const Dims a_dims = ranks & 1 ? Dims{2} : Dims{}, b_dims = ranks & 2 ? Dims{2} : Dims{};
        const converters::Operand x{network.addInput("a", a, a_dims), false, {}},
            y{network.addInput("b", b, b_dims), false, {}};
        const auto expected = at::native::result_type(at::empty(a_dims.constants(), util::toScalarType(a)),
                                                      at::empty(b_dims.constants(), util::toScalarType(b)));
        EXPECT_EQ(converters::resultType({x, y}), util::toDType(expected))
            << toString(a) << a_dims.toString() << " and " << toString(b) << b_dims.toString();
      }
    }
  }
}

TEST(Promotion, WithPythonNumbersIsResultType) {
  network::Network network;
  for (const DType dtype : kDTypes) {
    for (const at::Scalar& number : {at::Scalar(true), at::Scalar(2), at::Scalar(2.5)}) {
      for (const bool has_dims : {false, true}) {
        const Dims dims = has_dims ? Dims{2} : Dims{};
        const converters::Operand tensor{network.addInput("a", dtype, dims), false, {}}, wrapped{nullptr, true, number};
        const auto expected = at::native::result_type(at::empty(dims.constants(), util::toScalarType(dtype)), number);
        EXPECT_EQ(converters::resultType({tensor, wrapped}), util::toDType(expected))
            << toString(dtype) << dims.toString();
      }
    }
  }
}

}  // namespace
}  // namespace torchtrt::conversion::testing
