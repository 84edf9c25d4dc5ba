#include "runtime/engine_class.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

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

TEST(EngineClass, WeightsThatWereLetGoComeBackBitByBit) {
  const at::Tensor w = at::randn({70, 50});
  const auto first = productEngine(w);
  EngineState state = first->state();
  std::vector<at::Tensor>& weights = std::get<1>(state);
  ASSERT_TRUE(at::equal(weights[0], w));
  EXPECT_EQ(first->weights()[0].const_data_ptr(), weights[0].const_data_ptr()) << "it is held: nothing is restored";
  weights[0] = weights[0].clone();
  const c10::weak_intrusive_ptr<c10::StorageImpl> storage(
      c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(weights[0].storage().unsafeGetStorageImpl()));
  const auto second = Engine::fromState(std::move(state));
  weights.clear();
  EXPECT_NE(&second->engine(), &first->engine());
  EXPECT_TRUE(storage.expired()) << "the engine's kernel packed it, and nobody needs the original";
  EXPECT_TRUE(at::equal(second->weights()[0], w));
  EXPECT_EQ(&Engine::fromState(second->state())->engine(), &second->engine());
  const at::Tensor x = at::randn({4, 70});
  EXPECT_TRUE(at::allclose(executeEngine({x}, second)[0], at::matmul(x, w), 1e-4, 1e-4));
}

TEST(EngineClass, ThreadsThatRestoreAWeightShareIt) {
  const at::Tensor w = at::randn({300, 200});
  EngineState state = productEngine(w)->state();
  std::get<1>(state)[0] = std::get<1>(state)[0].clone();
  const auto engine = Engine::fromState(std::move(state));
  for (int round = 0; round < 20; ++round) {
    std::vector<at::Tensor> restored(4);
    std::vector<std::thread> threads;
    for (at::Tensor& tensor : restored) {
      threads.emplace_back([&] { tensor = engine->weights()[0]; });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const at::Tensor& tensor : restored) {
      EXPECT_EQ(tensor.const_data_ptr(), restored[0].const_data_ptr());
      EXPECT_TRUE(at::equal(tensor, w));
    }
  }
}

// libtorch has this while it reads a file: a tensor in the memory of each one that it makes.
struct ReadWeight {
  explicit ReadWeight(const at::Tensor& w) : memory(w.clone()), weight(at::empty({0}).set_(memory)) {
    weight.set_requires_grad(true);
  }
  at::Tensor memory, weight;
};

TEST(EngineClass, WeightsOfAFileAreExclusiveWhereOnlyTheEngineCanReadThem) {
  const auto exclusive = [](const std::vector<at::Tensor>& weights, const std::vector<at::Tensor>& kept = {}) {
    return EngineWeights::exclusive(weights, kept);
  };
  const ReadWeight read(at::randn({7, 5}));
  using Answers = std::vector<bool>;
  EXPECT_EQ(exclusive({read.weight}), Answers{true});
  EXPECT_EQ(exclusive({read.weight, read.weight}), (Answers{false, false}));
  EXPECT_EQ(exclusive({at::randn({3}), read.weight, at::Tensor()}), (Answers{false, true, false}));
  const at::Tensor kept = read.weight.detach();
  EXPECT_EQ(exclusive({read.weight}), Answers{false}) << "somebody holds it";
  EXPECT_EQ(exclusive({read.weight}, {kept}), Answers{true}) << "the engine itself";
  EXPECT_EQ(exclusive({kept}, {read.weight}), Answers{false}) << "it was not saved as one";
}

TEST(EngineClass, ExclusiveWeightsAreGivenAwayWhenTheyArePacked) {
  const at::Tensor w = at::randn({70, 50});
  const ReadWeight read(w);
  EngineState state = productEngine(w)->stateToSave();
  std::get<1>(state) = {read.weight};
  auto engine = Engine::fromState(state, {true});
  EXPECT_TRUE(EngineWeights::isGivenAway(read.memory));
  EXPECT_TRUE(at::equal(engine->weights()[0], w));
  const at::Tensor x = at::randn({4, 70});
  EXPECT_TRUE(at::allclose(executeEngine({x}, engine)[0], at::matmul(x, w), 1e-4, 1e-4));
  EXPECT_EQ(&Engine::fromState(state)->engine(), &engine->engine()) << "another holder in the same file";
  engine = nullptr;
  EXPECT_EQ(codeOf([&] { Engine::fromState(state); }), ErrorCode::kInputDevice);
}

TEST(EngineClass, ExclusiveWeightsOfAPlanGoThoughTheirTensorsStay) {
  const at::Tensor w = at::randn({70, 50});
  plan::Plan plan = productPlan(w);
  const std::vector<at::Tensor> weights = Engine::weightsOf(plan);
  std::weak_ptr<const void> owner = std::exchange(plan.weights[0].data, nullptr);
  const auto engine = Engine::fromPlan(plan, weights, Originals::kLetGo, {}, {true});
  EXPECT_TRUE(owner.expired());
  EXPECT_TRUE(at::equal(engine->weights()[0], w));
  const at::Tensor x = at::randn({4, 70});
  EXPECT_TRUE(at::allclose(executeEngine({x}, engine)[0], at::matmul(x, w), 1e-4, 1e-4));
}

TEST(EngineClass, SavedWeightsAreMarkedWhereNobodyElseHoldsThem) {
  const at::Tensor w = at::randn({70, 50});
  EngineState state = productEngine(w)->state();
  std::get<1>(state)[0] = std::get<1>(state)[0].clone();
  const auto engine = Engine::fromState(std::move(state));
  const at::Tensor saved = std::get<1>(engine->stateToSave())[0];
  EXPECT_TRUE(saved.requires_grad());
  EXPECT_FALSE(std::get<1>(engine->stateToSave())[0].requires_grad()) << "it is in memory";
  EXPECT_FALSE(engine->weights()[0].requires_grad());
}

TEST(EngineClass, WeightsThatSomebodyElseHoldsStayTheSameMemory) {
  const at::Tensor w = at::randn({70, 50});
  EngineState state = productEngine(w)->state();
  const at::Tensor held = std::get<1>(state)[0];
  const auto engine = Engine::fromState(std::move(state));
  EXPECT_EQ(engine->weights()[0].const_data_ptr(), held.const_data_ptr());
}

// One that calls read and one that a kernel packs.
TEST(EngineClass, BorrowedWeightsMayChangeOnceTheEngineIsThere) {
  const at::Tensor w = at::randn({70, 50});
  for (plan::Plan plan : {smallPlan(), productPlan(w)}) {
    const bool is_packed = plan.name == "product";
    const at::Tensor original = is_packed ? w : at::tensor({1.0F, 2.0F, 3.0F});
    const at::Tensor lent = original.clone();
    plan.weights[0].data = std::shared_ptr<const void>(std::make_shared<at::Tensor>(lent), lent.const_data_ptr());
    std::vector<at::Tensor> weights = Engine::weightsOf(plan);
    ASSERT_EQ(weights[0].const_data_ptr(), lent.const_data_ptr());
    const at::Tensor shared = is_packed ? at::Tensor() : weights[0].unsqueeze(0);
    const at::Tensor x = is_packed ? at::randn({4, 70}) : at::randn({4, 3});
    const auto lasting = Engine::fromPlan(plan);
    const at::Tensor expected = executeEngine({x}, lasting)[0].clone();
    const auto engine = Engine::fromPlan(plan, std::move(weights), Originals::kLetGo, {true});
    lent.fill_(7);
    EXPECT_TRUE(at::equal(executeEngine({x}, engine)[0], expected)) << plan.name;
    EXPECT_TRUE(at::equal(engine->weights()[0], original)) << plan.name;
    EXPECT_TRUE(is_packed || at::equal(shared[0], original)) << "who shares the storage sees the copy";
    EXPECT_TRUE(is_packed || engine->weights()[0].is_alias_of(shared)) << "there is one";
  }
}

// Nobody restores a weight that is held: it is copied, too.
TEST(EngineClass, BorrowedWeightsThatAreHeldAreCopied) {
  const at::Tensor w = at::randn({70, 50});
  plan::Plan plan = productPlan(w);
  const at::Tensor lent = w.clone();
  plan.weights[0].data = std::shared_ptr<const void>(std::make_shared<at::Tensor>(lent), lent.const_data_ptr());
  const auto engine = Engine::fromPlan(plan, Engine::weightsOf(plan), Originals::kHold, {true});
  lent.fill_(7);
  EXPECT_TRUE(at::equal(engine->weights()[0], w));
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
