#include "runtime/warm_up.h"

#include <gtest/gtest.h>

namespace torchtrt::runtime {
namespace {

// Its graph is text for libtorch's parser, and a failure is silent by design.
TEST(WarmUp, LibtorchTakesItsGraph) {
  EXPECT_TRUE(warmInterpreter());
}

}  // namespace
}  // namespace torchtrt::runtime
