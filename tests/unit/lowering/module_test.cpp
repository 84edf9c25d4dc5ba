// Lowering of modules: attributes become constants, training mode and state are refused, the module itself is left
// alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/ir_text.h"
#include "lowering/lowering.h"
#include "torchtrt/error.h"

namespace torchtrt::lowering::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using torch::jit::Module;

const LoweringOptions kVerified{.disabled_passes = {}, .dump_after = "", .verify = true};

Module makeModule(const std::string& source, bool training = false) {
  Module module("Net");
  module.register_attribute("training", c10::BoolType::get(), training);
  module.register_parameter("weight", at::ones({2, 3}), /*is_buffer=*/false);
  module.register_buffer("counter", at::zeros({}));
  module.define(source);
  return module;
}

std::string errorOf(const Module& module, const std::string& method = "forward") {
  try {
    lower(module, method, kVerified);
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidModule);
    return error.what();
  }
  return "no error";
}

TEST(LowerModule, ParametersBecomeConstantsThatShareTheirStorage) {
  const Module module = makeModule("def forward(self, x):\n  return torch.linear(x, self.weight)\n");
  const LoweredGraph lowered = lower(module, "forward", kVerified);
  EXPECT_EQ(textOf(*lowered.graph), R"(graph(%0 : Tensor):
  %1 : NoneType = prim::Constant()
  %2 : Tensor = prim::Constant[value= 1  1  1  1  1  1 [ CPUFloatType{2,3} ]]()
  %3 : Tensor = aten::linear(%0, %2, %1)
  return (%3)
)");
  for (const torch::jit::Node* node : lowered.graph->nodes()) {
    if (node->kind() == torch::jit::prim::Constant && node->hasAttribute(torch::jit::attr::value)) {
      EXPECT_EQ(node->t(torch::jit::attr::value).data_ptr(), module.attr("weight").toTensor().data_ptr());
      EXPECT_FALSE(node->t(torch::jit::attr::value).requires_grad());
    }
  }
  EXPECT_EQ(lowered.schema.arguments().size(), 1);
  EXPECT_EQ(lowered.module_name, "__torch__.Net");
}

TEST(LowerModule, ListsOfParametersBecomeConstantsToo) {
  Module module = makeModule("def forward(self, x):\n  return x + 1\n");  // nn.LSTM keeps its weights in such a list
  const c10::List<at::Tensor> weights({module.attr("weight").toTensor()});
  module.register_attribute("weights", c10::ListType::ofTensors(), weights);
  module.define("def chosen(self, x):\n  return x + self.weights[0]\n");
  EXPECT_EQ(textOf(*lower(module, "chosen", kVerified).graph), R"(graph(%0 : Tensor):
  %1 : int = prim::Constant[value=1]()
  %2 : Tensor = prim::Constant[value= 1  1  1  1  1  1 [ CPUFloatType{2,3} ]]()
  %3 : Tensor = aten::add(%0, %2, %1)
  return (%3)
)");
}

TEST(LowerModule, CallsOfSubmodulesAreInlined) {
  Module outer("Outer");
  outer.register_module("inner", makeModule("def forward(self, x):\n  return torch.relu(x)\n"));
  outer.define("def forward(self, x):\n  return self.inner.forward(x) + 1\n");
  EXPECT_EQ(textOf(*lower(outer, "forward", kVerified).graph), textOf(*parse(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::relu(%x)
  %out : Tensor = aten::add(%y, %one, %one)
  return (%out))")));
}

TEST(LowerModule, BranchesOnTheTrainingFlagAreFolded) {
  const Module module = makeModule(R"(
def forward(self, x):
  if self.training:
    self.counter.add_(1)
    x = x * 2
  return torch.relu(x)
)");
  EXPECT_EQ(textOf(*lower(module, "forward", kVerified).graph), textOf(*parse(R"(
graph(%x : Tensor):
  %out : Tensor = aten::relu(%x)
  return (%out))")));
}

TEST(LowerModule, TheModuleIsNotChanged) {
  const Module module = makeModule("def forward(self, x):\n  return torch.linear(x, self.weight)\n");
  const std::string before = module.get_method("forward").graph()->toString();
  lower(module, "forward", kVerified);
  EXPECT_EQ(module.get_method("forward").graph()->toString(), before);
}

TEST(LowerModule, TrainingModeNamesTheSubmodule) {
  Module outer("Outer");
  outer.register_module("inner", makeModule("def forward(self, x):\n  return torch.relu(x)\n", /*training=*/true));
  outer.define("def forward(self, x):\n  return self.inner.forward(x)\n");
  EXPECT_THAT(errorOf(outer), HasSubstr("[C004] submodule 'inner' is in training mode"));
}

TEST(LowerModule, MissingMethod) {
  const Module module = makeModule("def forward(self, x):\n  return torch.relu(x)\n");
  EXPECT_THAT(errorOf(module, "backward"), HasSubstr("has no method 'backward'"));
}

TEST(LowerModule, StateIsRefused) {
  EXPECT_THAT(errorOf(makeModule("def forward(self, x):\n  self.counter.add_(1)\n  return x + self.counter\n")),
              HasSubstr("attribute 'counter' is written by the method"));
  EXPECT_THAT(
      errorOf(makeModule("def forward(self, x):\n  self.counter = self.counter + 1\n  return x + self.counter\n")),
      HasSubstr("attribute 'counter' is written by the method"));
}

TEST(LowerModule, StateIsKeptWhereAsked) {
  LoweringOptions options = kVerified;
  options.keep_state = true;
  Module module = makeModule("def forward(self, x):\n  return x + self.counter\n");
  EXPECT_FALSE(lower(module, "forward", options).has_self);
  module.define("def count(self, x):\n  self.counter.add_(1)\n  return x + self.weight\n");
  for (const std::string method : {"forward", "count"}) {  // one reads what the other writes
    const LoweredGraph lowered = lower(module, method, options);
    EXPECT_TRUE(lowered.has_self);
    EXPECT_EQ(lowered.graph->inputs().size(), 2);
    EXPECT_THAT(textOf(*lowered.graph), HasSubstr("prim::GetAttr[name=\"counter\"]"));
    EXPECT_THAT(textOf(*lowered.graph), Not(HasSubstr("prim::GetAttr[name=\"weight\"]")));
  }
}

TEST(LowerModule, StateIsWhatLiesInTheSameMemory) {
  LoweringOptions options = kVerified;
  options.keep_state = true;
  Module module = makeModule("def forward(self, x):\n  return x\n");
  module.register_buffer("part", module.attr("weight").toTensor().detach()[1]);
  module.define("def write(self, x):\n  self.part.add_(1)\n  return x + self.weight\n");
  EXPECT_THAT(textOf(*lower(module, "write", options).graph), HasSubstr("prim::GetAttr[name=\"weight\"]"));
}

TEST(LowerModule, RunningStatisticsOfTrainingAreState) {
  LoweringOptions options = kVerified;
  options.keep_state = true;
  for (const char* trains : {"True", "False"}) {
    const Module module = makeModule(std::string("def forward(self, x):\n  return torch.batch_norm(x, None, None, "
                                                 "self.counter, self.weight, ") +
                                     trains + ", 0.1, 1e-5, False)\n");
    EXPECT_EQ(lower(module, "forward", options).has_self, trains == std::string("True"));
  }
}

// A module's weight stays an attribute exactly where something may write to it.
void expectWeightIsState(bool is_state, const std::string& body) {
  LoweringOptions options = kVerified;
  options.keep_state = true;
  Module module = makeModule("def ignore(self, x):\n  return x\n");
  const c10::List<at::Tensor> weights({at::ones({2, 3})});
  module.register_attribute("weights", c10::ListType::ofTensors(), weights);
  module.define("def forward(self, x, mask: Optional[Tensor], n: int):\n" + body);
  const LoweredGraph lowered = lower(module, "forward", options);
  const bool found = textOf(*lowered.graph).find("GetAttr[name=\"weight\"]") != std::string::npos;
  EXPECT_EQ(found, is_state) << body << textOf(*lowered.graph);
}

TEST(LowerModule, WritesToFreshTensorsLeaveWeightsAlone) {
  expectWeightIsState(false, R"(
  if mask is not None:
    mask = torch.zeros_like(mask).masked_fill_(mask, 2.0)
  a, b, c = self.weight.chunk(3, 1)
  pair = (mask, a)
  chosen = pair[0]
  if chosen is not None:
    x = x + chosen
  return x + a
)");
  expectWeightIsState(false, R"(
  fresh = torch.relu(self.weight)
  for i in range(n):
    fresh = fresh.add_(x).t().t()
  parts = fresh.chunk(2)
  parts[0].add_(1)
  return fresh + self.weight
)");
  expectWeightIsState(false, "  self.weights[0].add_(1)\n  return x + self.weight\n");
  expectWeightIsState(false,
                      "  product = torch.einsum('ij,ij->ij', [x, self.weight])\n  return product.add_(self.weight)\n");
  expectWeightIsState(false, "  kept = [self.weight]\n  kept.append(x)\n  x.add_(1)\n  return x + self.weight\n");
}

TEST(LowerModule, CopiesOfListsOfNumbersAreTheirOwn) {
  Module module = makeModule("def ignore(self, x):\n  return x\n");
  module.register_attribute("sizes", c10::ListType::ofInts(), c10::List<int64_t>({2, 3}));
  module.define("def forward(self, x):\n  sizes = self.sizes.copy()\n  sizes[0] = 1\n  return x.reshape(sizes)\n");
  LoweringOptions options = kVerified;
  options.keep_state = true;
  EXPECT_EQ(textOf(*lower(module, "forward", options).graph).find("GetAttr"), std::string::npos);
}

TEST(LowerModule, WritesThatReachAWeightMakeItState) {
  for (const char* write : {
           "self.weight.view(-1)[1:3].zero_()",
           "self.weight.chunk(3, 1)[1].add_(1)",
           "x = torch.dropout(self.weight, 0.5, False).add_(1)",
           "x = self.weight.type_as(x).add_(1)",
           "x = torch.einsum('ij->ji', [self.weight]).add_(1).t()",
           "(x if n > 1 else self.weight).add_(1)",
           "(x, self.weight)[1].add_(1)",
           "[self.weight, x][0].add_(1)",
           "[self.weight, x][0:][0].add_(1)",
           "([self.weight] + [x])[0].add_(1)",
           "{'a': self.weight}['a'].add_(1)",
           "torch.add(x, 1, out=self.weight)",
       }) {
    expectWeightIsState(true, std::string("  ") + write + "\n  return x + self.weight\n");
  }
  expectWeightIsState(true, "  self.counter = self.weight\n  self.counter.add_(1)\n  return x + self.weight\n");
  expectWeightIsState(true, "  self.weights = [self.weight]\n  self.weights[0].add_(1)\n  return x + self.weight\n");
  expectWeightIsState(true,
                      "  self.weights.append(self.weight)\n  self.weights[1].add_(1)\n  return x + self.weight\n");
  expectWeightIsState(true, R"(
  written = x
  for i in range(n):
    written.add_(1)
    written = self.weight
  return x + self.weight
)");
  expectWeightIsState(true, R"(
  kept = [x]
  kept.append(self.weight)
  kept[1].add_(1)
  return x + self.weight
)");
}

TEST(LowerModule, AnUnknownPassNameIsRefused) {
  const Module module = makeModule("def forward(self, x):\n  return torch.relu(x)\n");
  try {
    lower(module, "forward", {.disabled_passes = {"no-such-pass"}, .dump_after = "", .verify = false});
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    EXPECT_THAT(error.what(), HasSubstr("no lowering pass is named 'no-such-pass'"));
  }
}

}  // namespace
}  // namespace torchtrt::lowering::testing
