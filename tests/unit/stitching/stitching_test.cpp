#include "stitching/stitching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <sstream>

#include "partitioning/partitioning.h"
#include "runtime/small_engine.h"

namespace torchtrt::stitching {
namespace {

using runtime::smallAnswer;
using runtime::smallEngine;

// A graph of which the one engine segment is what smallEngine() computes, as far as stitching is concerned.
torch::jit::Module stitched(const std::string& ir, std::vector<c10::Argument> arguments, c10::TypePtr result,
                            std::shared_ptr<const torch::jit::Module> original = nullptr) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get());
  const auto partition = partitioning::partition(graph, [](const torch::jit::Node&) { return std::nullopt; });
  const c10::FunctionSchema schema("forward", "", std::move(arguments), {c10::Argument("", std::move(result))});
  return stitch(partition, {smallEngine()}, {"__torch__.models.Net", "forward", schema, std::move(original)});
}

torch::jit::Module saved(const torch::jit::Module& module) {
  std::stringstream stream;
  module.save(stream);
  return torch::jit::load(stream);
}

constexpr const char* kOneTensor = R"IR(
graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  return (%y))IR";

torch::jit::Module oneTensor(std::shared_ptr<const torch::jit::Module> original = nullptr) {
  return stitched(kOneTensor, {c10::Argument("x", c10::TensorType::get())}, c10::TensorType::get(),
                  std::move(original));
}

std::shared_ptr<torch::jit::Module> originalModule() {
  auto module =
      std::make_shared<torch::jit::Module>("__torch__.models.Net", std::make_shared<torch::jit::CompilationUnit>());
  module->define("def forward(self, x):\n  return torch.relu(x)\n");
  module->define("def twice(self, x):\n  return x + x\n");
  return module;
}

// Adds a method that calls a function of the module's unit, as modules that are loaded from files do.
void addCaller(torch::jit::Module& module) {
  torch::jit::CompilationUnit& unit = *module._ivalue()->compilation_unit();
  torch::jit::Function* callee =
      unit.define(c10::QualifiedName("__torch__.models"), "def tripled(x):\n  return x * 3\n",
                  torch::jit::nativeResolver(), nullptr)[0];
  auto graph = std::make_shared<torch::jit::Graph>();
  graph->addInput("self")->setType(module.type());
  torch::jit::Value* x = graph->addInput("x");
  torch::jit::Node* function = graph->insertNode(graph->create(torch::jit::prim::Constant));
  function->s_(torch::jit::attr::name, "tripled")->output()->setType(c10::FunctionType::create(callee));
  torch::jit::Node* call = graph->insertNode(graph->create(torch::jit::prim::CallFunction, {function->output(), x}));
  graph->registerOutput(call->output());
  module.type()->addMethod(unit.create_function(c10::QualifiedName(*module.type()->name(), "thrice"), graph));
}

TEST(EngineName, ComesFromTheModuleAlone) {
  EXPECT_EQ(engineName("__torch__.torchvision.models.resnet.___torch_mangle_4847.ResNet", 0, 1),
            "__torch___torchvision_models_resnet____torch_mangle_4847_ResNet_trt_engine");
  EXPECT_EQ(engineName("__torch__.Net", 1, 2), "__torch___Net_trt_engine_1");
}

TEST(Stitch, PrintsTheGraphOfDocument004) {
  EXPECT_EQ(oneTensor().get_method("forward").graph()->toString(false),
            R"IR(graph(%self_1 : __torch__.models.Net_trt,
      %x : Tensor):
  %2 : __torch__.torch.classes.tensorrt.Engine = prim::GetAttr[name="__torch___models_Net_trt_engine"](%self_1)
  %3 : Tensor[] = prim::ListConstruct(%x)
  %4 : Tensor[] = tensorrt::execute_engine(%3, %2)
  %5 : Tensor = prim::ListUnpack(%4)
  return (%5)
)IR");
}

TEST(Stitch, HoldsTheWeightsOfAnUpdatableModuleInASet) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"IR(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::relu(%x)
  %w : Tensor = prim::Uninitialized()
  %z : Tensor = aten::add(%y, %w, %one)
  return (%z))IR",
                      graph.get());
  const at::Tensor weight = at::tensor({4.0F, 5.0F, 6.0F});
  for (torch::jit::Node* node : graph->nodes()) {
    if (node->kind() == torch::jit::prim::Uninitialized) {
      const torch::jit::WithInsertPoint here(node);
      node->output()->replaceAllUsesWith(graph->insertConstant(weight));
      node->destroy();
      break;
    }
  }
  partitioning::PartitioningOptions one_node;
  one_node.min_block_size = 1;
  const auto only_relu = [](const torch::jit::Node& node) {
    return node.kind() == c10::aten::add ? std::optional(Refusal{"test", "stays"}) : std::nullopt;
  };
  const auto partition = partitioning::partition(graph, only_relu, one_node);
  const c10::FunctionSchema schema("forward", "", {c10::Argument("x", c10::TensorType::get())},
                                   {c10::Argument("", c10::TensorType::get())});
  StitchOptions options{"__torch__.models.Net", "forward", schema};
  options.updatable = true;
  torch::jit::Module module = stitch(partition, {smallEngine()}, options);
  EXPECT_EQ(module.get_method("forward").graph()->toString(false), R"IR(graph(%self_1 : __torch__.models.Net_trt,
      %x : Tensor):
  %2 : __torch__.torch.classes.tensorrt.WeightSet = prim::GetAttr[name="torchtrt_weights"](%self_1)
  %3 : (__torch__.torch.classes.tensorrt.Engine[], Tensor[]) = prim::CallMethod[name="current"](%2)
  %4 : __torch__.torch.classes.tensorrt.Engine[], %5 : Tensor[] = prim::TupleUnpack(%3)
  %13 : Tensor = prim::ListUnpack(%5)
  %6 : __torch__.torch.classes.tensorrt.Engine = prim::ListUnpack(%4)
  %7 : Tensor[] = prim::ListConstruct(%x)
  %8 : Tensor[] = tensorrt::execute_engine(%7, %6)
  %9 : Tensor = prim::ListUnpack(%8)
  %12 : int = prim::Constant[value=1]()
  %10 : Tensor = aten::add(%9, %13, %12)
  return (%10)
)IR");
  const at::Tensor x = at::randn({4, 3});
  const at::Tensor expected = smallAnswer(x) + weight;
  weight.fill_(7);  // the module has a copy
  EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), expected));
  EXPECT_TRUE(at::equal(saved(module).forward({x}).toTensor(), expected));
}

TEST(Stitch, RunsAndSurvivesSaving) {
  const at::Tensor x = at::randn({4, 3});
  torch::jit::Module module = oneTensor();
  EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), smallAnswer(x)));
  EXPECT_TRUE(at::equal(saved(module).forward({x}).toTensor(), smallAnswer(x)));
}

TEST(Stitch, OwnsWhatItsMethodsCallWhenTheOriginalIsGone) {
  auto original = originalModule();
  addCaller(*original);
  torch::jit::Module module = oneTensor(original);
  const std::weak_ptr<torch::jit::CompilationUnit> unit = original->_ivalue()->compilation_unit();
  original.reset();
  ASSERT_FALSE(unit.expired());
  const at::Tensor x = at::randn({4, 3});
  EXPECT_TRUE(at::equal(saved(module).get_method("thrice")({x}).toTensor(), x * 3));
  EXPECT_TRUE(at::equal(module.get_method("thrice")({x}).toTensor(), x * 3));
  module = torch::jit::Module();
  EXPECT_TRUE(unit.expired());
}

TEST(Stitch, OwnsNothingOfAnOriginalThatItDoesNotCall) {
  auto original = originalModule();
  torch::jit::Module module = oneTensor(original);
  const std::weak_ptr<torch::jit::CompilationUnit> unit = original->_ivalue()->compilation_unit();
  original.reset();
  EXPECT_TRUE(unit.expired());
  const at::Tensor x = at::randn({4, 3});
  EXPECT_TRUE(at::equal(saved(module).get_method("twice")({x}).toTensor(), x + x));
}

TEST(Stitch, KeepsTheSignature) {
  torch::jit::Module module = stitched(R"IR(
graph(%x : Tensor, %scale : float):
  %y : Tensor = aten::relu(%x)
  return (%y))IR",
                                       {c10::Argument("x", c10::TensorType::get()),
                                        c10::Argument("scale", c10::FloatType::get(), std::nullopt, c10::IValue(0.5))},
                                       c10::TensorType::get());
  const at::Tensor x = at::randn({1, 3});
  for (torch::jit::Module& each : std::vector<torch::jit::Module>{module, saved(module)}) {
    const auto& schema = each.get_method("forward").function().getSchema();
    EXPECT_EQ(c10::toString(schema), "forward(" + each.type()->str() + " self, Tensor x, float scale=0.5) -> Tensor");
    EXPECT_TRUE(at::equal(each.forward({x}).toTensor(), smallAnswer(x)));
  }
}

TEST(Stitch, RebuildsCollectionsAroundTheEngine) {
  const auto tensors = c10::TupleType::create({c10::TensorType::get(), c10::TensorType::get()});
  const auto dict = c10::DictType::create(c10::StringType::get(), c10::TensorType::get());
  torch::jit::Module module =
      stitched(R"IR(
graph(%pair : (Tensor, Tensor)):
  %name : str = prim::Constant[value="out"]()
  %number : int = prim::Constant[value=7]()
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%pair)
  %y : Tensor = aten::relu(%a)
  %both : (Tensor, Tensor) = prim::TupleConstruct(%y, %b)
  %dict : Dict(str, Tensor) = prim::DictConstruct(%name, %y)
  %out : ((Tensor, Tensor), Dict(str, Tensor), int) = prim::TupleConstruct(%both, %dict, %number)
  return (%out))IR",
               {c10::Argument("pair", tensors)}, c10::TupleType::create({tensors, dict, c10::IntType::get()}));
  const at::Tensor a = at::randn({2, 3});
  const at::Tensor b = at::randn({1});
  for (torch::jit::Module& each : std::vector<torch::jit::Module>{module, saved(module)}) {
    const auto out = each.forward({std::make_tuple(a, b)}).toTuple();
    const auto both = out->elements()[0].toTuple();
    EXPECT_TRUE(at::equal(both->elements()[0].toTensor(), smallAnswer(a)));
    EXPECT_TRUE(both->elements()[1].toTensor().is_same(b));
    EXPECT_TRUE(at::equal(out->elements()[1].toGenericDict().at("out").toTensor(), smallAnswer(a)));
    EXPECT_EQ(out->elements()[2].toInt(), 7);
  }
}

TEST(Embed, TakesAndGivesTheBindings) {
  const at::Tensor x = at::randn({2, 3});
  torch::jit::Module module =
      embed(smallEngine(), {.module_name = "__torch__.Engine", .input_order = {}, .output_order = {}});
  EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), smallAnswer(x)));
  EXPECT_TRUE(at::equal(saved(module).forward({x}).toTensor(), smallAnswer(x)));
}

}  // namespace
}  // namespace torchtrt::stitching
