#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "plan/plan.h"
#include "small_plan.h"
#include "support/engine_call.h"

namespace torchtrt::plan {
namespace {

using ::testing::HasSubstr;
using torchtrt::testing::errorOf;
using torchtrt::testing::PlanMaker;

// The small plan: registers 0 = n, 1 = 3, 2 = 3n; tensors 0 = x, 1 = w, 2 = sum, 3 = relu, 4 = z (view of 3).
struct Damage {
  const char* name;
  std::function<void(Plan&)> apply;
  const char* message;
};

class DamagedPlan : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedPlan, IsRefusedWithItsReason) {
  Plan plan = smallPlan();
  ASSERT_EQ(errorOf([&] { validate(plan); }), "");
  GetParam().apply(plan);
  EXPECT_THAT(errorOf([&] { validate(plan); }), HasSubstr(GetParam().message));
}

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

const Damage kDamages[] = {
    {"RegisterOfTheFuture", [](Plan& p) { p.program[2].a = 2; },
     "instruction 2 reads a register that is not yet written"},
    {"NoSuchSymbol", [](Plan& p) { p.program[0].a = 1; }, "instruction 0 reads a symbol that does not exist"},
    {"UpsideDownRange", [](Plan& p) { p.symbols[0].min = 5; }, "symbol 0 has no proper range"},
    {"NegativeMinimum", [](Plan& p) { p.symbols[0].min = -1; }, "symbol 0 has no proper range"},
    {"UnboundSymbol", [](Plan& p) { p.tensors[0].dims[0] = 2; }, "symbol 0 is not a dimension of any input"},
    {"NoSuchRegister", [](Plan& p) { p.tensors[2].dims[0] = 9; }, "tensor 2 uses a register that does not exist"},
    {"TooManyDims", [](Plan& p) { p.tensors[2].dims.assign(17, 1); }, "tensor 2 has more than 16 dimensions"},
    {"EmptyOfVaryingInput", [](Plan& p) { p.inputs[0].empty_dims = {0}; },
     "input 0 may come empty, and its own dimensions vary"},
    {"EmptyWithElements", [](Plan& p) { p.inputs[0].empty_dims = {2}; },
     "input 0 comes empty with dimensions of no empty tensor"},
    {"EmptyBelowZero",
     [](Plan& p) {
       p.inputs[0].empty_dims = {0, -1};
     },
     "input 0 comes empty with dimensions of no empty tensor"},
    {"EmptyAsItIs",
     [](Plan& p) {
       p.program.push_back({Op::kConstant, 0, 0, 0});
       p.tensors[0].dims = {3, 1};
       p.program[0] = {Op::kConstant, 0, 0, 4};
       p.inputs[0].empty_dims = {0, 3};
     },
     "input 0 comes empty with the dimensions that it has"},
    {"EmptyOutput", [](Plan& p) { p.outputs[0].empty_dims = {0}; }, "output 0 has dimensions of an empty input"},
    {"OrderOfAnotherRank", [](Plan& p) { p.tensors[2].order = {0}; }, "no permutation of its axes"},
    {"OrderTwice",
     [](Plan& p) {
       p.tensors[2].order = {1, 1};
     },
     "no permutation of its axes"},
    {"OrderOutside",
     [](Plan& p) {
       p.tensors[2].order = {0, 200};
     },
     "no permutation of its axes"},
    {"WeightSize", [](Plan& p) { p.weights[0].bytes = 16; }, "weight 0 has a size that is not its dimensions'"},
    {"WeightOverflow",
     [](Plan& p) {
       p.weights[0].dims = {kHuge, kHuge, 4};
     },
     "more than 2^63 bytes"},
    {"WeightType", [](Plan& p) { p.tensors[1].dtype = DType::kInt32; }, "tensor 1 differs from its weight"},
    {"WeightDims", [](Plan& p) { p.tensors[1].dims = {0}; }, "tensor 1 differs from its weight"},
    {"NoSuchWeight", [](Plan& p) { p.tensors[1].weight = 7; }, "tensor 1 is a weight that does not exist"},
    {"NegativeWeight", [](Plan& p) { p.tensors[2].weight = -5; }, "tensor 2 refers to a negative index"},
    {"WeightAndView", [](Plan& p) { p.tensors[1].view_of = 0; }, "is both a constant and a view"},
    {"NoSuchBase", [](Plan& p) { p.tensors[4].view_of = 99; }, "tensor 4 is a view of a tensor that does not exist"},
    {"ViewOfItself", [](Plan& p) { p.tensors[4].view_of = 4; }, "tensor 4 is a view of itself"},
    {"ViewOfOtherType", [](Plan& p) { p.tensors[4].dtype = DType::kInt32; }, "views a tensor of another element type"},
    {"ViewOfOtherSize", [](Plan& p) { p.tensors[4].dims = {1}; },
     "tensor 'z' views a tensor of another number of elements"},
    {"InputOutside", [](Plan& p) { p.inputs[0].tensor = 50; }, "input 0 is not a tensor of the plan"},
    {"InputIsConstant", [](Plan& p) { p.inputs[0].tensor = 1; }, "input 0 is also something else"},
    {"InputTwice", [](Plan& p) { p.inputs.push_back(p.inputs[0]); }, "input 1 is also something else"},
    {"OutputOutside", [](Plan& p) { p.outputs[0].tensor = -2; }, "output 0 is not a tensor of the plan"},
    {"NeverWritten", [](Plan& p) { p.steps.pop_back(); }, "is never computed"},
    {"WrittenTwice", [](Plan& p) { p.steps[1].outputs[0] = 2; }, "step 1 writes a tensor that has another source"},
    {"WritesAnInput", [](Plan& p) { p.steps[1].outputs[0] = 0; }, "step 1 writes a tensor that has another source"},
    {"WritesAView", [](Plan& p) { p.steps[1].outputs[0] = 4; }, "step 1 writes a tensor that has another source"},
    {"WrongOrder", [](Plan& p) { std::swap(p.steps[0], p.steps[1]); }, "step 0 reads a tensor before it is computed"},
    {"NoSuchOperand", [](Plan& p) { p.steps[0].inputs[1] = 77; }, "step 0 reads a tensor that does not exist"},
    {"NegativeOperand", [](Plan& p) { p.steps[0].inputs[1] = -3; }, "step 0 reads a tensor that does not exist"},
    {"AbsentOperand", [](Plan& p) { p.steps[0].inputs[1] = -1; }, "an operand is missing"},
    {"OneOperandMore", [](Plan& p) { p.steps[1].inputs.push_back(0); },
     "step 'activation1' (activation) has 2 operands"},
    {"NoOutputs", [](Plan& p) { p.steps[1].outputs.clear(); }, "step 'activation1' (activation) has 0 outputs"},
    {"NoAttribute", [](Plan& p) { p.steps[1].attributes.erase("op"); }, "has no attribute 'op'"},
    {"AttributeType", [](Plan& p) { p.steps[1].attributes.set("op", int64_t{1}); },
     "attribute 'op' of step 'activation1'"},
    {"AttributeOfTheFuture", [](Plan& p) { p.steps[1].attributes.set("glow", true); }, "[E002]"},
    {"OperationOfTheFuture", [](Plan& p) { p.steps[1].attributes.set("op", std::string("glow")); }, "operation 'glow'"},
    {"ConstantAsStep", [](Plan& p) { p.steps[1].family = "constant"; }, "[E002]"},
    {"OutputDims",
     [](Plan& p) {
       p.tensors[3].dims = {1, 0};
     },
     "the dimensions of an output are not those of the result"},
    {"OutputType",
     [](Plan& p) {
       p.tensors[3].dtype = DType::kBool;
       p.tensors[4].dtype = DType::kBool;
     },
     "the element type of an output is not that of the result"},
    {"ImpossibleArithmetic",
     [](Plan& p) {
       p.program.push_back({Op::kConstant, 0, 0, 0});
       p.program.push_back({Op::kFloorDiv, 1, 3, 0});
     },
     "by zero"},
};

INSTANTIATE_TEST_SUITE_P(EveryRule, DamagedPlan, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

// Hostile attributes of each family: what a kernel would divide by, index with or loop over.
struct Hostile {
  const char* name;
  std::function<void(PlanMaker&)> make;
  const char* message;
};

class HostilePlan : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostilePlan, IsRefusedWithItsReason) {
  PlanMaker make;
  GetParam().make(make);
  make.output("y", make.plan().steps.back().outputs[0]);
  EXPECT_THAT(errorOf([&] { parse(torchtrt::testing::bytesOf(serialize(make.plan())), nullptr); }),
              HasSubstr(GetParam().message));
}

using Ints = std::vector<int64_t>;

void convolution(PlanMaker& m, const Ints& stride, int64_t groups, std::initializer_list<int64_t> out,
                 const Ints& padding = {0, 0}) {
  const int32_t x = m.input("x", m.dims({1, 2, 4, 4}));
  const int32_t w = m.floats("w", {2, 2, 3, 3}, std::vector<float>(36, 1.0F));
  m.step("convolution", {x, w}, m.dims(out),
         {{"stride", stride},
          {"pre_padding", padding},
          {"post_padding", padding},
          {"dilation", Ints{1, 1}},
          {"groups", groups}});
}

void pooling(PlanMaker& m, const Ints& window, std::initializer_list<int64_t> out) {
  m.step("pooling", {m.input("x", m.dims({1, 2, 4, 4}))}, m.dims(out),
         {{"op", std::string("max")},
          {"window", window},
          {"stride", Ints{1, 1}},
          {"pre_padding", Ints{0, 0}},
          {"post_padding", Ints{0, 0}},
          {"dilation", Ints{1, 1}}});
}

void slice(PlanMaker& m, int64_t start, int64_t size, int64_t stride) {
  m.step("slice", {m.input("x", m.dims({4}))}, m.dims({size}), {{"stride", Ints{stride}}});
  m.lastStep().dims = {{"start", m.dims({start})}, {"size", m.dims({size})}};
}

const Hostile kHostile[] = {
    {"StrideZero",
     [](PlanMaker& m) {
       convolution(m, {0, 1}, 1, {1, 2, 2, 2});
     },
     "an attribute is out of range"},
    {"StrideBeyondArithmetic",
     [](PlanMaker& m) {
       convolution(m, {kHuge, 1}, 1, {1, 2, 1, 2});
     },
     "an attribute is out of range"},
    {"StrideCount",
     [](PlanMaker& m) {
       convolution(m, {1}, 1, {1, 2, 2, 2});
     },
     "a wrong number of entries"},
    {"GroupsZero",
     [](PlanMaker& m) {
       convolution(m, {1, 1}, 0, {1, 2, 2, 2});
     },
     "groups do not divide channels"},
    {"GroupsTwo",
     [](PlanMaker& m) {
       convolution(m, {1, 1}, 2, {1, 2, 2, 2});
     },
     "the kernel's channels are not the input's"},
    {"ConvolvedTooFar",
     [](PlanMaker& m) {
       convolution(m, {1, 1}, 1, {1, 2, 3, 2});
     },
     "the dimensions of an output"},
    {"NegativePadding",
     [](PlanMaker& m) {
       convolution(m, {1, 1}, 1, {1, 2, 1, 1}, {-1, 0});
     },
     "out of range"},
    {"WindowZero",
     [](PlanMaker& m) {
       pooling(m, {0, 2}, {1, 2, 3, 3});
     },
     "out of range"},
    {"WindowHuge",
     [](PlanMaker& m) {
       pooling(m, {9, 2}, {1, 2, 3, 3});
     },
     "larger than the padded input"},
    {"WindowsLargerThanNumbers",
     [](PlanMaker& m) {
       pooling(m, {int64_t{1} << 31, int64_t{1} << 31}, {1, 2, 3, 3});
     },
     "its windows are too large"},
    {"PaddingWiderThanItsWindow",
     [](PlanMaker& m) {
       pooling(m, {2, 2}, {1, 2, 5, 3});
       m.lastStep().attributes.set("pre_padding", Ints{2, 0});
     },
     "a padding is larger than its window"},
    {"AverageOfHoles",
     [](PlanMaker& m) {
       pooling(m, {2, 2}, {1, 2, 2, 3});
       m.lastStep().attributes.set("op", std::string("average"));
       m.lastStep().attributes.set("dilation", Ints{2, 1});
     },
     "an attribute is out of range"},
    {"DivisorBelowZero",
     [](PlanMaker& m) {
       pooling(m, {2, 2}, {1, 2, 3, 3});
       m.lastStep().attributes.set("divisor", int64_t{-1});
     },
     "the divisor is negative"},
    {"PoolingOfTheFuture",
     [](PlanMaker& m) {
       pooling(m, {2, 2}, {1, 2, 3, 3});
       m.lastStep().attributes.set("op", std::string("median"));
     },
     "[E002] step 'pooling0' (pooling) has the operation 'median', which this library does not know"},
    {"IndicesNowhere",
     [](PlanMaker& m) {
       pooling(m, {2, 2}, {1, 2, 3, 3});
       m.lastStep().attributes.set("return_indices", true);
     },
     "an output is missing"},
    {"EmptyKernel",
     [](PlanMaker& m) {
       convolution(m, {1, 1}, 1, {1, 2, 5, 2});
       m.lastStep().inputs[1] = m.floats("none", {2, 2, 0, 3}, {});
     },
     "the kernel is empty"},
    {"SigmoidOfNumbers",
     [](PlanMaker& m) {
       m.step("activation", {m.input("x", m.dims({4}), DType::kInt32)}, m.dims({4}), {{"op", std::string("sigmoid")}},
              DType::kInt32);
     },
     "its input is not floating"},
    {"ConcatenatedBeyondNumbers",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({0, kHuge}), DType::kInt8);
       m.step("concatenation", {x, x}, m.dims({0, kHuge}), {{"axis", int64_t{1}}}, DType::kInt8);
     },
     "the dimensions of an output are not those of the result"},
    {"ConcatenatedWithNothing",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({4}));
       m.step("concatenation", {x, -1}, m.dims({4}), {{"axis", int64_t{0}}});
     },
     "an operand is missing"},
    {"PaddedBeyondNumbers",
     [](PlanMaker& m) {
       m.step("padding", {m.input("x", m.dims({0, 2}), DType::kInt8)}, m.dims({0, kHuge}),
              {{"mode", std::string("constant")}}, DType::kInt8);
       m.lastStep().dims = {{"pre", m.dims({0, kHuge})}, {"post", m.dims({0, kHuge})}};
     },
     "the dimensions of an output are not those of the result"},
    {"SliceBehindTheEnd", [](PlanMaker& m) { slice(m, 2, 3, 1); }, "reaches outside of its input"},
    {"SliceBeforeTheStart", [](PlanMaker& m) { slice(m, 1, 3, -1); }, "reaches outside of its input"},
    {"SliceStrideZero", [](PlanMaker& m) { slice(m, 0, 3, 0); }, "a stride is 0"},
    {"SoftmaxAxis",
     [](PlanMaker& m) {
       m.step("softmax", {m.input("x", m.dims({4}))}, m.dims({4}), {{"axis", int64_t{1}}});
     },
     "the axis is out of range"},
    {"ReduceTwice",
     [](PlanMaker& m) {
       m.step("reduce", {m.input("x", m.dims({4, 5}))}, m.dims({5}),
              {{"op", std::string("sum")}, {"axes", Ints{0, 0}}, {"keep_dims", false}});
     },
     "out of range or given twice"},
    {"ShuffleTwice",
     [](PlanMaker& m) {
       m.step("shuffle", {m.input("x", m.dims({4, 5}))}, m.dims({4, 5}),
              {{"first_permutation", Ints{0, 0}}, {"second_permutation", Ints{}}});
     },
     "a permutation is none"},
    {"Inner",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({4, 5}));
       m.step("matrix_multiply", {x, x}, m.dims({4, 5}));
     },
     "the inner dimensions of its operands differ"},
    {"BroadcastBeyond",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({4, 5}));
       const int32_t w = m.floats("w", {4}, {1, 2, 3, 4});
       m.step("elementwise", {x, w}, m.dims({4, 5}), {{"op", std::string("sum")}});
     },
     "cannot be broadcast to one shape"},
    {"TopKBeyond",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({4}));
       m.step("topk", {x}, m.dims({5}), {{"axis", int64_t{0}}});
       m.lastStep().dims = {{"k", m.dims({5})}};
       m.lastStep().outputs.push_back(m.tensor("i", m.dims({5}), DType::kInt64));
     },
     "k is larger than the axis"},
    {"ReflectTooFar",
     [](PlanMaker& m) {
       m.step("padding", {m.input("x", m.dims({2}))}, m.dims({4}), {{"mode", std::string("reflect")}});
       m.lastStep().dims = {{"pre", m.dims({2})}, {"post", m.dims({0})}};
     },
     "reflected padding is wider than the input"},
    {"FloatIndices",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({4}));
       m.step("gather", {x, x}, m.dims({4}), {{"mode", std::string("default")}, {"axis", int64_t{0}}});
     },
     "its indices are not int32 or int64"},
    {"UpdatesBeyond",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({4, 2}));
       const int32_t i = m.input("i", m.dims({3}), DType::kInt64);
       m.step("scatter", {x, i, x}, m.dims({4, 2}),
              {{"mode", std::string("default")},
               {"axis", int64_t{0}},
               {"reduce", std::string("none")},
               {"include_self", true}});
     },
     "its indices have not the updates' dimensions"},
    {"CumulativeBeyond",
     [](PlanMaker& m) {
       m.step("cumulative", {m.input("x", m.dims({4}))}, m.dims({5}),
              {{"op", std::string("sum")}, {"axis", int64_t{0}}});
     },
     "the dimensions of an output are not those of the result"},
    {"CumulativeWithPlaces",
     [](PlanMaker& m) {
       m.step("cumulative", {m.input("x", m.dims({4}))}, m.dims({4}),
              {{"op", std::string("sum")}, {"axis", int64_t{0}}});
       m.lastStep().outputs.push_back(m.tensor("i", m.dims({4}), DType::kInt64));
     },
     "it has a wrong number of outputs"},
    {"GridOfAnotherBatch",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({1, 1, 4, 4}));
       const int32_t grid = m.input("g", m.dims({2, 3, 3, 2}));
       m.step("grid_sample", {x, grid}, m.dims({1, 1, 3, 3}),
              {{"mode", std::string("linear")}, {"padding", std::string("zeros")}, {"align_corners", false}});
     },
     "the grid does not fit its input"},
    {"RecurrentWithoutAState",
     [](PlanMaker& m) {
       const int32_t x = m.input("x", m.dims({5, 1, 1}));
       const int32_t w = m.floats("w", {1, 1}, {1});
       m.step("recurrent", {x, w}, m.dims({5, 1, 1}), {{"op", std::string("rnn_tanh")}, {"reverse", false}});
     },
     "the state is missing"},
};

INSTANTIATE_TEST_SUITE_P(EveryFamily, HostilePlan, ::testing::ValuesIn(kHostile),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Plan, TheSmallestConvolutionIsFine) {
  PlanMaker make;
  convolution(make, {1, 1}, 1, {1, 2, 2, 2});
  make.output("y", make.plan().steps.back().outputs[0]);
  EXPECT_EQ(errorOf([&] { parse(torchtrt::testing::bytesOf(serialize(make.plan())), nullptr); }), "");
}

}  // namespace
}  // namespace torchtrt::plan
