#include "runtime/weight_set.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "runtime/small_module.h"
#include "torchtrt/prepare.h"

namespace torchtrt::runtime {
namespace {

// y = product of x with the set's engine, plus its tensor.
torch::jit::Module moduleOf(const c10::intrusive_ptr<WeightSet>& set) {
  torch::jit::Module module("Net", std::make_shared<torch::jit::CompilationUnit>());
  const c10::IValue held(set);
  module.register_attribute(WeightSet::kAttribute, held.type(), held);
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"IR(
graph(%self, %x : Tensor):
  %one : int = prim::Constant[value=1]()
  %set : __torch__.torch.classes.tensorrt.WeightSet = prim::GetAttr[name="torchtrt_weights"](%self)
  %now : (__torch__.torch.classes.tensorrt.Engine[], Tensor[]) = prim::CallMethod[name="current"](%set)
  %engines : __torch__.torch.classes.tensorrt.Engine[], %tensors : Tensor[] = prim::TupleUnpack(%now)
  %engine : __torch__.torch.classes.tensorrt.Engine = prim::ListUnpack(%engines)
  %bias : Tensor = prim::ListUnpack(%tensors)
  %inputs : Tensor[] = prim::ListConstruct(%x)
  %outputs : Tensor[] = tensorrt::execute_engine(%inputs, %engine)
  %y : Tensor = prim::ListUnpack(%outputs)
  %z : Tensor = aten::add(%y, %bias, %one)
  return (%z))IR",
                      graph.get());
  graph->inputs()[0]->setType(module.type());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, graph));
  return module;
}

c10::intrusive_ptr<WeightSet> setOf(float weight, float bias) {
  return c10::make_intrusive<WeightSet>(std::vector{productEngine(at::full({16, 16}, weight))},
                                        std::vector{at::full({16}, bias)});
}

TEST(WeightSet, GivesACallItsEnginesAndTensors) {
  torch::jit::Module module = moduleOf(setOf(2, 5));
  EXPECT_TRUE(at::equal(module.forward({at::ones({4, 16})}).toTensor(), at::full({4, 16}, 37.0F)));
}

TEST(WeightSet, BecomesAnother) {
  const auto set = setOf(2, 5);
  torch::jit::Module module = moduleOf(set);
  module.forward({at::ones({4, 16})});
  set->become(*setOf(1, 3));
  EXPECT_TRUE(at::equal(module.forward({at::ones({4, 16})}).toTensor(), at::full({4, 16}, 19.0F)));
}

TEST(WeightSet, NeverGivesACallHalfOfAnUpdate) {
  const auto set = setOf(1, 16);
  const auto first = setOf(1, 16);
  const auto second = setOf(2, 0);
  torch::jit::Module module = moduleOf(set);
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0, calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!stop) {
        ++calls;
        wrong += at::equal(module.forward({at::ones({4, 16})}).toTensor(), at::full({4, 16}, 32.0F)) ? 0 : 1;
      }
    });
  }
  for (int i = 0; i < 2000 || calls < 100; ++i) {
    set->become(i % 2 == 0 ? *second : *first);
  }
  stop = true;
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(WeightSet, SurvivesSaving) {
  const auto set = setOf(2, 5);
  set->setRecipe(std::string("any bytes\0too", 13));
  std::stringstream file;
  moduleOf(set).save(file);
  torch::jit::Module loaded = torch::jit::load(file);
  EXPECT_TRUE(at::equal(loaded.forward({at::ones({4, 16})}).toTensor(), at::full({4, 16}, 37.0F)));
  EXPECT_EQ(loaded.attr(WeightSet::kAttribute).toCustomClass<WeightSet>()->recipe(), std::string("any bytes\0too", 13));
}

TEST(WeightSet, RefusesADamagedRecipe) {
  const auto set = setOf(2, 5);
  set->setRecipe("recipe");
  WeightSet::Pickled state = set->pickled();
  std::get<2>(state)[0] = 7;
  EXPECT_THROW(WeightSet{state}, EngineError);
  std::get<2>(state) = at::zeros({6});
  EXPECT_THROW(WeightSet{state}, EngineError);
}

TEST(WeightSet, CopiesAreIndependent) {
  const auto set = setOf(2, 5);
  torch::jit::Module module = moduleOf(set);
  torch::jit::Module copy = module.deepcopy();
  set->become(*setOf(1, 3));
  EXPECT_TRUE(at::equal(copy.forward({at::ones({4, 16})}).toTensor(), at::full({4, 16}, 37.0F)));
}

TEST(WeightSet, ItsEnginesAreFound) {
  const torch::jit::Module module = moduleOf(setOf(2, 5));
  const auto engines = enginesIn(module);
  ASSERT_EQ(engines.size(), 1U);
  EXPECT_EQ(engines[0].first, "product");
  for (const torch::jit::Node* node : module.get_method("forward").graph()->nodes()) {
    if (node->kind() == c10::Symbol::fromQualString("tensorrt::execute_engine")) {
      EXPECT_EQ(engineOf(module, *node->input(1)).get(), engines[0].second.get());
      EXPECT_EQ(engineOf(module, *node->input(0)).get(), nullptr);
    }
  }
}

TEST(WeightSet, EnginesInAttributesAreFoundToo) {
  const auto engine = smallEngine();
  const torch::jit::Module module = moduleThatCalls(engine);
  ASSERT_EQ(enginesIn(module).size(), 1U);
  EXPECT_EQ(enginesIn(module)[0].first, "engine");
  EXPECT_EQ(enginesIn(module)[0].second.get(), engine.get());
}

}  // namespace
}  // namespace torchtrt::runtime
