// Pins of modules to a floating dtype: which modules a pattern covers, and what becomes of a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/ir_text.h"
#include "lowering/lowering.h"
#include "lowering/module_path.h"
#include "lowering/precision_pins.h"

namespace torchtrt::lowering::testing {
namespace {

using ::testing::ElementsAre;
using torch::jit::Module;

TEST(PrecisionPins, AModuleWithAllThatIsInside) {
  for (const char* pattern : {"encoder.layer.0", "encoder.layer.0.*", "encoder.*.0", "*.0", "*", "encoder", "enc*"}) {
    EXPECT_TRUE(covers(pattern, "encoder.layer.0")) << pattern;
    EXPECT_TRUE(covers(pattern, "encoder.layer.0.query")) << pattern;
  }
  for (const char* pattern : {"encoder.layer", "encoder.layer.?", "encoder.layer.[0-9]"}) {
    EXPECT_TRUE(covers(pattern, "encoder.layer.1")) << pattern;
  }
}

TEST(PrecisionPins, NoOtherModule) {
  EXPECT_FALSE(covers("encoder.layer.0.*", "encoder.layer.01"));
  EXPECT_FALSE(covers("encoder.layer.0.*", "encoder.layer"));
  EXPECT_FALSE(covers("fc", "fc1"));
  EXPECT_FALSE(covers("fc", "head.fc"));
  EXPECT_FALSE(covers("fc", ""));
  EXPECT_FALSE(covers("encoder.layer.?", "encoder.layer.10"));
  EXPECT_TRUE(covers("*", ""));
}

TEST(PrecisionPins, TheLastThatCoversTheModule) {
  const std::vector<PrecisionPin> pins = {{"*", at::kHalf}, {"head", at::kFloat}, {"head.fc", at::kBFloat16}};
  EXPECT_EQ(pinFor(pins, "body"), 0);
  EXPECT_EQ(pinFor(pins, "head.norm"), 1);
  EXPECT_EQ(pinFor(pins, "head.fc"), 2);
  EXPECT_EQ(pinFor({{"head", at::kFloat}}, "body"), std::nullopt);
}

// Two lists of layers, whose names stand between those of the modules that are called.
Module makeNet() {
  Module layer("Layer");
  layer.register_attribute("training", c10::BoolType::get(), false);
  layer.register_parameter("weight", at::full({2, 2}, 0.3), /*is_buffer=*/false);
  layer.define("def forward(self, x):\n  return torch.relu(torch.linear(x, self.weight))\n");
  Module first("First"), second("Second"), net("Net");
  for (Module* list : {&first, &second}) {
    list->register_attribute("training", c10::BoolType::get(), false);
    list->register_module("zero", layer);
  }
  net.register_attribute("training", c10::BoolType::get(), false);
  net.register_module("first", first);
  net.register_module("second", second);
  net.define("def forward(self, x):\n  return self.second.zero.forward(self.first.zero.forward(x))\n");
  return net;
}

std::vector<std::string> pathsOfRelus(const Module& module) {
  const LoweredGraph lowered = lower(module, "forward");
  std::vector<std::string> paths;
  for (const torch::jit::Node* node : lowered.graph->nodes()) {
    if (node->kind() == torch::jit::aten::relu) {
      paths.push_back(modulePath(*node));
    }
  }
  return paths;
}

TEST(ModulePath, NamesModulesThatAreNotCalled) {
  EXPECT_THAT(pathsOfRelus(makeNet()), ElementsAre("first.zero", "second.zero"));
}

TEST(ModulePath, NamesThemBelowModulesThatAreCalled) {
  Module outer("Outer"), list("List");
  for (Module* module : {&outer, &list}) {
    module->register_attribute("training", c10::BoolType::get(), false);
  }
  list.register_module("net", makeNet());
  outer.register_module("list", list);
  outer.define("def once(self, x):\n  return self.list.net.forward(x)\ndef forward(self, x):\n  return self.once(x)\n");
  EXPECT_THAT(pathsOfRelus(outer), ElementsAre("list.net.first.zero", "list.net.second.zero"));
}

LoweredGraph lowerPinned(PrecisionPins pins) {
  LoweringOptions options;
  options.verify = true;
  options.precision = std::move(pins);
  return lower(makeNet(), "forward", options);
}

TEST(PinPrecisions, CastsWhatEntersAndWhatLeaves) {
  const LoweredGraph lowered = lowerPinned({{{"first", at::kBFloat16}}, at::kFloat});
  EXPECT_EQ(textOf(*lowered.graph), R"(graph(%0 : Tensor):
  %1 : NoneType = prim::Constant()
  %2 : int = prim::Constant[value=15]()
  %3 : bool = prim::Constant[value=1]()
  %4 : Tensor = prim::Constant[value= 0.3000  0.3000  0.3000  0.3000 [ CPUFloatType{2,2} ]]()
  %5 : Tensor = aten::_autocast_to_reduced_precision(%0, %3, %3, %2, %2)
  %6 : Tensor = prim::Constant[value= 0.3008  0.3008  0.3008  0.3008 [ CPUBFloat16Type{2,2} ]]()
  %7 : Tensor = aten::linear(%5, %6, %1)
  %8 : Tensor = aten::relu(%7)
  %9 : Tensor = aten::_autocast_to_full_precision(%8, %3, %3)
  %10 : Tensor = aten::linear(%9, %4, %1)
  %11 : Tensor = aten::relu(%10)
  return (%11)
)");
  EXPECT_THAT(lowered.pinned, ElementsAre(2));
}

TEST(PinPrecisions, NothingBetweenNodesOfOnePrecision) {
  const LoweredGraph lowered =
      lowerPinned({{{"first", at::kBFloat16}, {"second", at::kBFloat16}, {"*.never", at::kHalf}}, at::kFloat});
  int casts = 0;
  for (const torch::jit::Node* node : lowered.graph->nodes()) {
    casts += std::string(node->kind().toQualString()).find("autocast") != std::string::npos;
  }
  EXPECT_EQ(casts, 2);
  EXPECT_THAT(lowered.pinned, ElementsAre(2, 2, 0));
}

TEST(PinPrecisions, TheInterpreterComputesWhatThePinsSay) {
  Module net = makeNet();
  const LoweredGraph lowered = lowerPinned({{{"first", at::kBFloat16}}, at::kFloat});
  const at::Tensor x = at::tensor({0.1F, 0.7F}).reshape({1, 2});
  const at::Tensor weight = net.attr("first").toModule().attr("zero").toModule().attr("weight").toTensor();
  const at::Tensor first = at::relu(at::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16))).to(at::kFloat);
  torch::jit::GraphFunction function("forward", lowered.graph->copy(), nullptr);
  EXPECT_TRUE(function({x}).toTensor().equal(at::relu(at::linear(first, weight))));
}

at::Tensor runPinned(const Module& net, at::ScalarType dtype, const at::Tensor& x) {
  LoweringOptions options;
  options.verify = true;
  options.precision = {{{"inner", dtype}}, at::kFloat};
  const LoweredGraph lowered = lower(net, "forward", options);
  torch::jit::GraphFunction function("forward", lowered.graph->copy(), nullptr);
  return function({x}).toTensor();
}

Module withInner(const std::string& inner_forward) {
  Module inner("Inner"), net("Net");
  for (Module* module : {&inner, &net}) {
    module->register_attribute("training", c10::BoolType::get(), false);
  }
  inner.define(inner_forward);
  net.register_module("inner", inner);
  net.define("def forward(self, x):\n  return self.inner.forward(x) * 3\n");
  return net;
}

at::Tensor makeThirds() {
  return at::tensor({1.F, 2.F, -7.F}) / 3;
}

TEST(PinPrecisions, HoldWithinBranchesAndLoops) {
  const Module net = withInner(R"(def forward(self, x):
  if bool(x.sum() < 0):
    for i in range(int(x.size(0))):
      x = x * 1.1
  return x
)");
  at::Tensor expected = makeThirds().to(at::kBFloat16);
  for (int64_t i = 0; i < expected.size(0); ++i) {
    expected = expected * 1.1;
  }
  EXPECT_TRUE(runPinned(net, at::kBFloat16, makeThirds()).equal(expected.to(at::kFloat) * 3));
}

TEST(PinPrecisions, HoldForWhatAListHandsOnAndAnOptionalMayBe) {
  const Module net = withInner(R"(def forward(self, x):
  parts = torch.split(x, 1)
  last: Optional[Tensor] = None
  for part in parts:
    last = part * 1.1 if last is None else torch.cat([last, part])
  return x if last is None else last
)");
  const at::Tensor low = makeThirds().to(at::kHalf);
  const at::Tensor expected = at::cat({low.slice(0, 0, 1) * 1.1, low.slice(0, 1)});
  EXPECT_TRUE(runPinned(net, at::kHalf, makeThirds()).equal(expected.to(at::kFloat) * 3));
}

// A write to a tensor shows in what others see of it; a copy in another precision would not show it.
TEST(PinPrecisions, NotWhatIsWrittenTo) {
  const Module net = withInner("def forward(self, x):\n  x.relu_()\n  return x\n");
  LoweringOptions options;
  options.verify = true;
  const std::string unpinned = textOf(*lower(net, "forward", options).graph);
  options.precision = {{{"inner", at::kHalf}}, at::kFloat};
  const LoweredGraph lowered = lower(net, "forward", options);
  EXPECT_EQ(textOf(*lowered.graph), unpinned);
  EXPECT_THAT(lowered.pinned, ElementsAre(0));
}

}  // namespace
}  // namespace torchtrt::lowering::testing
