#include "engine/schedule/prepared_shapes.h"

#include <gtest/gtest.h>

#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using testing::HostTensor;

TEST(PreparedShapes, RiseWithNewShapesAlone) {
  const auto engine = smallEngine();
  callEngine(*engine, {HostTensor::counting({5, 3})});
  const uint64_t before = preparedShapes();
  callEngine(*engine, {HostTensor::counting({5, 3})});
  EXPECT_EQ(preparedShapes(), before);
  callEngine(*engine, {HostTensor::counting({6, 3})});
  EXPECT_EQ(preparedShapes(), before + 1);
}

}  // namespace
}  // namespace torchtrt::engine
