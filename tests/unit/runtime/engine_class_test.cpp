#include "runtime/engine_class.h"

#include <gtest/gtest.h>

#include "runtime/base64.h"
#include "runtime/execute.h"
#include "runtime/small_engine.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {
namespace {

ErrorCode codeOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kInternal;
}

TEST(EngineClass, IsRegistered) {
  EXPECT_EQ(torchtrt_runtime_problem(), nullptr);
  EXPECT_NO_THROW(checkRegistered());
  EXPECT_NE(torch::getCustomClass("__torch__.torch.classes.tensorrt.Engine"), nullptr);
}

TEST(EngineClass, StateIsTheFourStringsOfDocument004AndTheWeights) {
  const auto [strings, weights] = smallEngine()->state();
  ASSERT_EQ(strings.size(), 4U);
  EXPECT_EQ(strings[0], "3");
  EXPECT_EQ(strings[1], "small");
  EXPECT_EQ(strings[2], "0%0%0%cpu%generic");
  EXPECT_EQ(decodeBase64(strings[3]), plan::serializeWithoutWeights(smallPlan()));
  ASSERT_EQ(weights.size(), 1U);
  EXPECT_TRUE(at::equal(weights[0], at::tensor({1.0F, 2.0F, 3.0F})));
}

TEST(EngineClass, ComesBackFromItsState) {
  const at::Tensor x = at::randn({2, 3});
  auto [strings, weights] = smallEngine()->state();
  const auto back = Engine::fromState({strings, {weights[0].clone()}});
  EXPECT_EQ(back->name(), "small");
  EXPECT_TRUE(at::equal(executeEngine({x}, back)[0], smallAnswer(x)));
}

TEST(EngineClass, CopiesShareTheLoadedEngine) {
  const auto engine = smallEngine();
  EXPECT_EQ(&Engine::fromState(engine->state())->engine(), &engine->engine());
}

TEST(EngineClass, WeightsOfAnotherEngineAreAnError) {
  auto [strings, weights] = smallEngine()->state();
  const EngineState other(strings, {weights[0] + 1});
  EXPECT_EQ(codeOf([&] { Engine::fromState(other); }), ErrorCode::kPlanCorrupt);
}

TEST(EngineClass, TakesTheFourStringsAlone) {
  const at::Tensor x = at::randn({3, 3});
  const std::string plan = plan::serialize(smallPlan());
  for (const std::string& text : {plan, encodeBase64(plan)}) {
    const auto engine = Engine::fromStrings({"3", "other", "0%0%0%cpu%generic", text});
    EXPECT_EQ(engine->name(), "other");
    EXPECT_TRUE(at::equal(executeEngine({x}, engine)[0], smallAnswer(x)));
  }
}

TEST(EngineClass, SaysWhatIsWrongWithAState) {
  const auto [strings, weights] = smallEngine()->state();
  const auto with = [&](size_t i, const std::string& text) {
    std::vector<std::string> changed = strings;
    changed[i] = text;
    return codeOf([&] { Engine::fromState({changed, weights}); });
  };
  EXPECT_EQ(with(0, "10"), ErrorCode::kPlanVersion);
  EXPECT_EQ(with(2, "0%0%0%cpu"), ErrorCode::kPlanCorrupt);
  EXPECT_EQ(with(2, "0%8%6%gpu%A100"), ErrorCode::kInputDevice);
  EXPECT_EQ(with(3, "not base64!"), ErrorCode::kPlanCorrupt);
  EXPECT_EQ(with(3, strings[3].substr(0, strings[3].size() / 2 / 4 * 4)), ErrorCode::kPlanCorrupt);
  EXPECT_EQ(codeOf([&] {
              Engine::fromState(EngineState(std::vector<std::string>{"3", "small", strings[2]}, weights));
            }),
            ErrorCode::kPlanCorrupt);
  EXPECT_EQ(codeOf([&] { Engine::fromState(EngineState(std::vector<std::string>{}, weights)); }),
            ErrorCode::kPlanVersion);
  EXPECT_EQ(codeOf([&] { Engine::fromState(EngineState(strings, std::vector<at::Tensor>{})); }),
            ErrorCode::kPlanCorrupt);
  EXPECT_EQ(codeOf([&] { Engine::fromState({strings, {weights[0].slice(0, 0, 2)}}); }), ErrorCode::kPlanCorrupt);
  EXPECT_EQ(codeOf([&] { Engine::fromState({strings, {weights[0].to(at::kMeta)}}); }), ErrorCode::kInputDevice);
}

TEST(EngineClass, ASelfContainedPlanWithoutItsWeightsIsAnError) {
  const std::string plan = plan::serializeWithoutWeights(smallPlan());
  EXPECT_EQ(codeOf([&] { Engine::fromStrings({"3", "small", "0%0%0%cpu%generic", plan}); }), ErrorCode::kPlanCorrupt);
}

}  // namespace
}  // namespace torchtrt::runtime
