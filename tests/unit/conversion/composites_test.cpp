// Converters that are written in TorchScript, and what they rest on: branches and loops that are decided while
// compiling. Their numbers are compared with eager PyTorch by tests/python/operator_table_arrays.py and _networks.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conversion/composites/composite.h"
#include "conversion/convert_text.h"

namespace torchtrt::conversion::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Composites, AreAllTorchScript) {
  NodeConverterRegistry::instance();
  EXPECT_THAT(composites::brokenDefinitions(), IsEmpty());
}

TEST(Composites, ShapesDecideTheirBranches) {
  const std::string text = R"(
graph(%x : Tensor):
  %y : Tensor = aten::atleast_2d(%x)
  %z : Tensor = aten::relu(%y)
  return (%z))";
  EXPECT_THAT(layersOf(text, {{DType::kFloat32, {3, 4}}}), ElementsAre("activation:relu float32[3, 4]"));
  EXPECT_THAT(layersOf(text, {{DType::kFloat32, {s0()}}}),
              ElementsAre("shuffle float32[1, s0]", "activation:relu float32[1, s0]"));
}

TEST(Composites, ManyOutputsAndMissingOperands) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %h : Tensor, %c : Tensor, %a : Tensor, %b : Tensor):
  %none : NoneType = prim::Constant()
  %hx : Tensor[] = prim::ListConstruct(%h, %c)
  %y : Tensor, %z : Tensor = aten::lstm_cell(%x, %hx, %a, %b, %none, %none)
  return (%z))",
                       {{DType::kFloat32, {s0(), 3}},
                        {DType::kFloat32, {s0(), 2}},
                        {DType::kFloat32, {s0(), 2}},
                        {DType::kFloat32, {8, 3}},
                        {DType::kFloat32, {8, 2}}})
                  .front(),
              "matrix_multiply float32[s0, 8]");
}

TEST(Composites, CellsThatATraceOnAGpuRecords) {
  const std::string gru = R"(
graph(%x : Tensor, %h : Tensor, %a : Tensor, %b : Tensor):
  %none : NoneType = prim::Constant()
  %y : Tensor, %kept : Tensor = aten::_thnn_fused_gru_cell(%x, %h, %a, %b, %none)
  return (%y, %kept))";
  const std::vector<std::string> layers = layersOf(gru, {{DType::kFloat16, {s0(), 6}},
                                                         {DType::kFloat16, {s0(), 6}},
                                                         {DType::kFloat16, {s0(), 2}},
                                                         {DType::kFloat16, {6}}});
  EXPECT_EQ(layers.front(), "elementwise:sum float16[s0, 6]");
  EXPECT_EQ(layers.back(), "concatenation float16[s0, 10]");
}

TEST(Composites, RefusalsNameTheModulesOperator) {
  EXPECT_THAT(errorOf(R"(
graph(%x : Tensor):
  %classes : int = prim::Constant[value=-1]()
  %y : Tensor = aten::one_hot(%x, %classes)
  return (%y))",
                      {{DType::kInt64, {3}}}),
              HasSubstr("aten::one_hot: in prim::RaiseException: the module raises an exception for these inputs: "));
}

TEST(Loops, AreConvertedTripByTrip) {
  const std::string text = R"(
graph(%x : Tensor):
  %true : bool = prim::Constant[value=1]()
  %axis : int = prim::Constant[value=1]()
  %trips : int = aten::size(%x, %axis)
  %y : Tensor = prim::Loop(%trips, %true, %x)
    block0(%i : int, %z : Tensor):
      %w : Tensor = aten::relu(%z)
      -> (%true, %w)
  return (%y))";
  EXPECT_THAT(layersOf(text, {{DType::kFloat32, {4, 2}}}),
              ElementsAre("activation:relu float32[4, 2]", "activation:relu float32[4, 2]"));
  EXPECT_THAT(errorOf(text, {{DType::kFloat32, {4, s0()}}}), HasSubstr("number of trips has to be known"));
}

TEST(Einsum, AProductIsOneLayer) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %y : Tensor):
  %equation : str = prim::Constant[value="bij,bjk->bik"]()
  %none : NoneType = prim::Constant()
  %list : Tensor[] = prim::ListConstruct(%x, %y)
  %z : Tensor = aten::einsum(%equation, %list, %none)
  return (%z))",
                       {{DType::kFloat32, {s0(), 3, 4}}, {DType::kFloat32, {s0(), 4, 5}}}),
              ElementsAre("matrix_multiply float32[s0, 3, 5]"));
}

TEST(IndexPut, AMaskIsASelection) {
  const std::string text = R"(
graph(%x : Tensor, %mask : Tensor, %value : Tensor):
  %no : bool = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%mask)
  %z : Tensor = aten::index_put(%x, %list, %value, %no)
  return (%z))";
  EXPECT_THAT(layersOf(text, {{DType::kFloat32, {s0(), 4}}, {DType::kBool, {s0(), 4}}, {DType::kFloat32, {}}}),
              ElementsAre("select float32[s0, 4]"));
  EXPECT_THAT(errorOf(text, {{DType::kFloat32, {3, 4}}, {DType::kBool, {3, 4}}, {DType::kFloat32, {5}}}),
              HasSubstr("[data-dependent]"));
}

TEST(IndexPut, NumbersAreScattered) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %i : Tensor, %value : Tensor):
  %yes : bool = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%i)
  %z : Tensor = aten::index_put(%x, %list, %value, %yes)
  return (%z))",
                       {{DType::kFloat32, {6, 4}}, {DType::kInt64, {5}}, {DType::kFloat32, {5, 4}}}),
              ElementsAre("scatter float32[6, 4]"));
}

TEST(Recurrent, EveryDirectionIsAProductAndARecurrence) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %h : Tensor, %a : Tensor, %b : Tensor):
  %no : bool = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %zero : float = prim::Constant[value=0.]()
  %params : Tensor[] = prim::ListConstruct(%a, %b)
  %y : Tensor, %l : Tensor = aten::gru(%x, %h, %params, %no, %one, %zero, %no, %no, %no)
  return (%y))",
                       {{DType::kFloat32, {7, s0(), 3}},
                        {DType::kFloat32, {1, s0(), 2}},
                        {DType::kFloat32, {6, 3}},
                        {DType::kFloat32, {6, 2}}}),
              ElementsAre("slice float32[1, s0, 2]", "shuffle float32[s0, 2]", "matrix_multiply float32[7, s0, 6]",
                          "recurrent:gru float32[7, s0, 2]", "shuffle float32[1, s0, 2]"));
}

}  // namespace
}  // namespace torchtrt::conversion::testing
