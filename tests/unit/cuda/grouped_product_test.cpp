// torchtrt::GroupedProduct on the device: by hand, and with groups that are no groups.
#include <gtest/gtest.h>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

// Five rows of two values, three matrices of [2, 2]; the second group has no row, the last row has no group.
Case grouped(DType dtype, DType index, const Values& ends) {
  plugin::registerBuiltinPlugins();
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("GroupedProduct")},
                          {"version", std::string("1")}}),
          {makeTensor(dtype, {5, 2}, iota(10)), makeTensor(dtype, {3, 2, 2}, {1, 0, 0, 1, 9, 9, 9, 9, 1, 2, 3, 4}),
           makeTensor(index, {3}, ends)},
          {{dtype, {5, 2}}}};
}

TEST(GroupedProduct, MultipliesEachRowByTheMatrixOfItsGroup) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const DType index : {DType::kInt32, DType::kInt64}) {
      const Case layer = grouped(dtype, index, {2, 2, 4});
      EXPECT_STREQ(createKernel(problemOf(layer)).implementation, "grouped");
      expectOutputs(layer, {{0, 1, 2, 3, 4 + 15, 8 + 20, 6 + 21, 12 + 28, 0, 0}});
    }
  }
}

TEST(GroupedProduct, ReportsGroupsOutOfOrderAndBehindTheRows) {
  for (const Values& ends : {Values{2, 1, 4}, Values{2, 2, 6}, Values{-1, 2, 4}}) {
    try {
      run(grouped(DType::kFloat32, DType::kInt64, ends));
      ADD_FAILURE() << "no error";
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIndexOutOfRange) << error.what();
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
