// Inputs that may come empty, and are zeros then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/load.h"

namespace torchtrt::engine {
namespace {

using testing::callEngine;
using ::testing::ElementsAre;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::HostTensor;
using testing::PlanMaker;

const HostTensor kNothing({0}, {});

// max(x + a, b) of [n, 2]; a and b may come as [0].
std::shared_ptr<const LoadedEngine> engineWithState() {
  PlanMaker make("state");
  const plan::Register n = make.symbol("n", 1, 2, 8);
  const int32_t x = make.input("x", {n, make.number(2)});
  const int32_t a = make.input("a", make.dims({1, 2}));
  const int32_t b = make.input("b", make.dims({1, 2}));
  make.plan().inputs[1].empty_dims = make.plan().inputs[2].empty_dims = {0};
  make.output("y", make.elementwise("max", make.elementwise("sum", x, a), b));
  LoadOptions options;
  options.prepare = false;
  return loadMade(make, options);
}

TEST(EmptyInputs, AreZeros) {
  const auto engine = engineWithState();
  const HostTensor x({2, 2}, {1, 2, 3, 4});
  const HostTensor a({1, 2}, {10, 20});
  const HostTensor b({1, 2}, {12, 1});
  const HostTensor least({2, 2}, {0, -1, 0, -2});  // no other number in place of a zero would give zeros
  for (int call = 0; call < 2; ++call) {
    EXPECT_THAT(callEngine(*engine, {x, kNothing, kNothing})[0].values(), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(callEngine(*engine, {least, kNothing, kNothing})[0].values(), ElementsAre(0, 0, 0, 0));
    EXPECT_THAT(callEngine(*engine, {x, a, b})[0].values(), ElementsAre(12, 22, 13, 24));
  }
  EXPECT_EQ(engine->cache().size(), 1U);  // of the same shapes
}

TEST(EmptyInputs, AreAskedForTheirShapesLikeOthers) {
  const auto engine = engineWithState();
  const HostTensor x({3, 2}, {1, 2, 3, 4, 5, 6});
  const std::vector<HostTensor> inputs = {x, kNothing, kNothing};
  const auto views = testing::viewsOf(inputs);
  EXPECT_THAT(engine->outputShapes(views), ElementsAre(ElementsAre(3, 2)));
  const std::vector<HostTensor> with_state = {x, HostTensor({1, 2}, {1, 2}), HostTensor({1, 2}, {1, 2})};
  EXPECT_EQ(engine->workspaceBytes(views), engine->workspaceBytes(testing::viewsOf(with_state)));
  const testing::InputsOnDevice given(testing::testDevice(), views);
  EXPECT_FALSE(engine->profile(given.views(), 1, 1).empty());
  EXPECT_THAT(engine->inspect(), HasSubstr("input \"a\" %1, zeros where it is [0]"));
}

TEST(EmptyInputs, ComeAllOrNone) {
  const auto engine = engineWithState();
  const HostTensor x({1, 2}, {1, 2});
  EXPECT_THAT(errorOf([&] {
                callEngine(*engine, {x, kNothing, x});
              }),
              HasSubstr("[E005] input 'a': expected 2 dimensions [1, 2], got [0]"));
  EXPECT_THAT(errorOf([&] { callEngine(*engine, {kNothing, kNothing, kNothing}); }), HasSubstr("[E005] input 'x'"));
  EXPECT_THAT(errorOf([&] {
                callEngine(*engine, {x, HostTensor({0, 2}, {}), HostTensor({0, 2}, {})});
              }),
              HasSubstr("[E005] input 'a'"));
  EXPECT_THAT(errorOf([&] { callEngine(*engine, {x, kNothing}); }), HasSubstr("[E003]"));
}

TEST(EmptyInputs, KeepTheirElementType) {
  const auto engine = engineWithState();
  const HostTensor x({1, 2}, {1, 2});
  const std::vector<HostTensor> inputs = {x, kNothing, kNothing};
  auto views = testing::viewsOf(inputs);
  views[1].dtype = DType::kFloat16;
  testing::KeptOutputs outputs;
  EXPECT_THAT(errorOf([&] { engine->enqueue(views, outputs, 1); }), HasSubstr("[E004] input 'a': expected float32"));
}

}  // namespace
}  // namespace torchtrt::engine
