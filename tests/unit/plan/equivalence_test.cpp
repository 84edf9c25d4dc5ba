#include "plan/equivalence.h"

#include <gtest/gtest.h>

#include <functional>

#include "small_plan.h"

namespace torchtrt::plan {
namespace {

using testing::PlanMaker;

TEST(Equivalence, NamesAndLocationsDoNotCount) {
  Plan other = smallPlan();
  other.name = other.producer = other.steps[0].name = other.tensors[2].name = other.inputs[0].name = "other";
  other.steps[0].location = {};
  other.steps[1].hint = "reference";
  EXPECT_TRUE(areEquivalent(smallPlan(), other));
}

struct Change {
  const char* name;
  std::function<void(Plan&)> apply;
};

class ChangedPlan : public ::testing::TestWithParam<Change> {};

TEST_P(ChangedPlan, IsAnother) {
  Plan plan = smallPlan();
  GetParam().apply(plan);
  EXPECT_FALSE(areEquivalent(smallPlan(), plan));
  EXPECT_FALSE(areEquivalent(plan, smallPlan()));
}

const Change kChanges[] = {
    {"Family", [](Plan& p) { p.steps[1].family = "unary"; }},
    {"Attribute", [](Plan& p) { p.steps[1].attributes.set("op", std::string("tanh")); }},
    {"Number", [](Plan& p) { p.steps[1].attributes.set("alpha", 0.5); }},
    {"SymbolicAttribute",
     [](Plan& p) {
       p.steps[1].dims = {{"dims", {0}}};
     }},
    {"WeightsOfOtherContent", [](Plan& p) { p.weights[0].hash[0] ^= 1; }},
    {"Operands",
     [](Plan& p) {
       p.steps[0].inputs = {1, 0};
     }},
    {"AbsentOperand", [](Plan& p) { p.steps[0].inputs[1] = -1; }},
    {"Type", [](Plan& p) { p.tensors[3].dtype = DType::kFloat64; }},
    {"Dims", [](Plan& p) { p.tensors[3].dims[0] = 1; }},
    {"Symbol", [](Plan& p) { p.symbols[0].name = "m"; }},
    {"Order",
     [](Plan& p) {
       p.tensors[2].order = {1, 0};
     }},
    {"View", [](Plan& p) { p.tensors[4].view_of = 2; }},
    {"Output", [](Plan& p) { p.outputs[1].tensor = 2; }},
    {"AnotherOutput",
     [](Plan& p) {
       p.outputs.push_back({"x", 0});
     }},
    {"AnotherInput",
     [](Plan& p) {
       p.tensors.push_back({"unread", DType::kFloat32, {1}, {}});
       p.inputs.push_back({"unread", 5});
     }},
};
INSTANTIATE_TEST_SUITE_P(All, ChangedPlan, ::testing::ValuesIn(kChanges),
                         [](const auto& info) { return std::string(info.param.name); });

// relu(x) * relu(x): of one step, or of two, which a plugin in their place may answer differently.
Plan square(bool twice, int64_t unread) {
  PlanMaker make;
  make.input("unread", make.dims({unread}));
  const int32_t x = make.input("x", make.dims({4}));
  const int32_t a = make.activation("relu", x);
  make.output("y", make.elementwise("prod", a, twice ? make.activation("relu", x) : a));
  return make.plan();
}

TEST(Equivalence, InputsThatNobodyReadsDoNotCount) {
  EXPECT_TRUE(areEquivalent(square(false, 2), square(false, 3)));
}

TEST(Equivalence, AsManyStepsAreNeeded) {
  EXPECT_FALSE(areEquivalent(square(false, 2), square(true, 2)));
}

TEST(Equivalence, TheOrderOfStepsDoesNotCount) {
  const auto made = [](bool swapped) {
    PlanMaker make;
    const int32_t x = make.input("x", make.dims({4}));
    const int32_t first = make.activation(swapped ? "tanh" : "relu", x);
    const int32_t second = make.activation(swapped ? "relu" : "tanh", x);
    make.output("y", swapped ? make.elementwise("sub", second, first) : make.elementwise("sub", first, second));
    return make.plan();
  };
  EXPECT_TRUE(areEquivalent(made(false), made(true)));
}

}  // namespace
}  // namespace torchtrt::plan
