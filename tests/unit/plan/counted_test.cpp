// Plans whose outputs are counted: what a reader has to see before it trusts one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "plan/counted.h"
#include "support/counted_plan.h"
#include "support/engine_call.h"

namespace torchtrt::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using torchtrt::testing::addPlaces;
using torchtrt::testing::errorOf;
using torchtrt::testing::PlanMaker;

using Ints = std::vector<int64_t>;

// Tensors: 0 = x, 1 = places, 2 = count.
PlanMaker places() {
  PlanMaker make;
  const int32_t x = make.input("x", make.dims({4}));
  make.output("places", addPlaces(make, x, make.number(4)).places);
  return make;
}

TEST(Counted, TellsWhichTensorCountsWhich) {
  PlanMaker make = places();
  EXPECT_EQ(errorOf([&] { validate(make.plan()); }), "");
  EXPECT_THAT(countsOfTensors(make.plan()), ElementsAre(-1, 2, -1));
  const Plan read = parse(testing::bytesOf(serialize(make.plan())), nullptr);
  EXPECT_THAT(countsOfTensors(read), ElementsAre(-1, 2, -1));
}

struct Damage {
  const char* name;
  std::function<void(PlanMaker&)> apply;
  const char* message;
};

class DamagedCounts : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedCounts, AreRefusedWithTheirReason) {
  PlanMaker make = places();
  GetParam().apply(make);
  EXPECT_THAT(errorOf([&] { validate(make.plan()); }), HasSubstr(GetParam().message));
}

const Damage kDamages[] = {
    {"NoList", [](PlanMaker& m) { m.lastStep().attributes.set("counted", int64_t{0}); }, "no list of numbers"},
    {"NoSuchOutput", [](PlanMaker& m) { m.lastStep().attributes.set("counted", Ints{5}); }, "that it does not have"},
    {"NegativeOutput", [](PlanMaker& m) { m.lastStep().attributes.set("counted", Ints{-1}); }, "that it does not have"},
    {"ItsOwnNumber", [](PlanMaker& m) { m.lastStep().attributes.set("counted", Ints{1}); }, "that it does not have"},
    {"ANumberOfAnotherType", [](PlanMaker& m) { m.at(2).dtype = DType::kInt32; }, "is no int64 number"},
    {"ANumberWithDims", [](PlanMaker& m) { m.at(2).dims = m.dims({1}); }, "is no int64 number"},
    {"NoRows", [](PlanMaker& m) { m.at(1).dims.clear(); }, "the rows of an output that has none"},
    {"AnotherOrder",
     [](PlanMaker& m) {
       m.at(1).order = {1, 0};
     },
     "an output that is not row-major"},
    {"AView", [](PlanMaker& m) { m.output("flat", m.view("flat", 1, m.dims({4}))); },
     "views a tensor whose rows are counted"},
    {"AReader",
     [](PlanMaker& m) {
       m.output("cast", m.step("cast", {1}, m.dims({4, 1}), {{"to", DType::kFloat32}}));
     },
     "reads a tensor whose rows are counted"},
};

INSTANTIATE_TEST_SUITE_P(Validate, DamagedCounts, ::testing::ValuesIn(kDamages),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace torchtrt::plan
