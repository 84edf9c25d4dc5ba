#include "torchtrt/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compiler/checking/wrong_converter.h"
#include "torchtrt/compile.h"

namespace torchtrt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kInf = std::numeric_limits<double>::infinity();

Verification::Segment segment(const std::string& name, Verification::Deviation deviation) {
  Verification::Segment segment;
  segment.name = name;
  segment.location = "net.py:3:4";
  segment.nodes = {"aten::relu # net.py:3:4"};
  segment.calls = 1;
  segment.was_compared = true;
  segment.deviation = std::move(deviation);
  segment.engine_milliseconds = 0.5;
  segment.torch_milliseconds = 1;
  return segment;
}

Verification example() {
  Verification verification;
  verification.threads = 2;
  verification.calls = 5;
  verification.torch_milliseconds = 4;
  verification.engine_milliseconds = 2;
  verification.outputs = {.relative = 0.5, .ulps = 2e6, .allowed = 1e-4, .difference = "they differ"};
  verification.segments = {segment("good", {.relative = 1e-7, .ulps = 3, .allowed = 1e-4, .difference = ""}),
                           segment("bad", {.relative = 1e-3, .ulps = 999, .allowed = 1e-4, .difference = "too far"}),
                           segment("worse", {.relative = kInf, .ulps = kInf, .allowed = 0, .difference = "NaN"})};
  verification.segments[1].culprit = "aten::relu # net.py:3:4";
  return verification;
}

TEST(Verification, NamesTheFirstAndTheWorst) {
  const Verification verification = example();
  EXPECT_FALSE(verification.agrees());
  EXPECT_EQ(verification.first()->name, "bad");
  EXPECT_EQ(verification.worst()->name, "worse");
  EXPECT_EQ(verification.verdict(),
            "2 of 3 engines disagree with PyTorch, first engine bad (net.py:3:4), worst engine worse (net.py:3:4); "
            "the outputs disagree: they differ");
}

TEST(Verification, OfWhatAgreesNamesNone) {
  Verification verification = example();
  verification.outputs.difference = "";
  verification.segments.resize(1);
  EXPECT_TRUE(verification.agrees());
  EXPECT_EQ(verification.first(), nullptr);
  EXPECT_EQ(verification.worst(), nullptr);
  EXPECT_EQ(verification.verdict(), "the outputs agree; 1 of 1 engine compared, all of them agree");
  verification.segments.clear();
  EXPECT_TRUE(verification.agrees());
  EXPECT_EQ(verification.verdict(), "the outputs agree; no engine ran");
}

TEST(Verification, AsksWhereOutputsAloneDisagree) {
  Verification verification = example();
  verification.segments.resize(1);
  EXPECT_FALSE(verification.agrees());
  EXPECT_EQ(verification.verdict(),
            "the outputs disagree: they differ; 1 of 1 engine compared, all of them agree: was it compiled from this "
            "module?");
}

TEST(Verification, TextHasARowForEveryEngine) {
  Verification verification = example();
  verification.segments.push_back(segment("unknown", {}));
  verification.segments.back().was_compared = false;
  verification.segments.back().note = "[E005] too large";
  EXPECT_EQ(verification.toText(), R"(a forward: 4.000 ms in PyTorch, 2.000 ms compiled (medians of 5), 2 threads
its outputs: relative error 0.5, allowed 0.0001; ulps 2e+06; disagrees

  relative  allowed  ulps  engine ms  PyTorch ms  calls                engine                where
     1e-07   0.0001     3      0.500       1.000      1  agrees        good (1 operator)     net.py:3:4
     0.001   0.0001   999      0.500       1.000      1  disagrees     bad (1 operator)      net.py:3:4
       inf        0   inf      0.500       1.000      1  disagrees     worse (1 operator)    net.py:3:4
                                                      1  not compared  unknown (1 operator)  net.py:3:4

engine bad disagrees: too far
  from aten::relu # net.py:3:4 on

engine worse disagrees: NaN
  one that is made anew of its operators agrees: a rewriter or another version may have made it

engine unknown: [E005] too large

2 of 4 engines disagree with PyTorch, first engine bad (net.py:3:4), worst engine worse (net.py:3:4); the outputs disagree: they differ
)");
}

TEST(Verification, JsonHasEverything) {
  Verification verification = example();
  verification.segments.erase(verification.segments.begin(), verification.segments.begin() + 2);
  EXPECT_EQ(verification.toJson(),
            R"({"agrees": false, "verdict": "1 of 1 engine disagrees with PyTorch, first engine worse (net.py:3:4), )"
            R"(worst engine worse (net.py:3:4); the outputs disagree: they differ", "threads": 2, "calls": 5, )"
            R"("torch_milliseconds": 4.000, "engine_milliseconds": 2.000, "outputs": {"relative": 0.5, )"
            R"("ulps": 2e+06, "allowed": 0.0001, "difference": "they differ"}, "first": "worse", "worst": "worse", )"
            R"("segments": [{"name": "worse", "location": "net.py:3:4", "nodes": ["aten::relu # net.py:3:4"], )"
            R"("calls": 1, "was_compared": true, "deviation": {"relative": null, "ulps": null, "allowed": 0, )"
            R"("difference": "NaN"}, "engine_milliseconds": 0.500, "torch_milliseconds": 1.000, "culprit": "", )"
            R"("note": ""}]})");
}

torch::jit::Module moduleOf(const std::string& body) {
  torch::jit::Module module("m");
  module.register_parameter("weight", at::full({3, 3}, 0.5), /*is_buffer=*/true);
  module.define("def forward(self, x):\n" + body);
  module.eval();
  return module;
}

torch::jit::Module compiled(const torch::jit::Module& module) {
  ts::CompileSpec spec(std::vector<Input>{Input(std::vector<int64_t>{2, 3})});
  spec.min_block_size = 1;
  spec.check_results = false;  // which finds what these tests are to find
  return ts::compile(module, spec);
}

TEST(Verify, FindsTheOperatorThatIsConvertedWrong) {
  registerWrongConverter();
  const torch::jit::Module module = moduleOf(
      "  a = torch.matmul(torch.sigmoid(x), self.weight)\n  b = torch.special_bessel_y1(a)\n"
      "  return torch.tanh(torch.exp(b)), torch.exp(a)\n");
  const Verification verification = ts::verify(module, compiled(module), {at::rand({2, 3})}, 1);
  ASSERT_EQ(verification.segments.size(), 1U);
  EXPECT_FALSE(verification.agrees());
  const Verification::Segment& segment = verification.segments[0];
  EXPECT_EQ(verification.first(), &segment);
  EXPECT_THAT(segment.deviation.difference, HasSubstr("value 0: the largest difference"));
  EXPECT_GT(segment.deviation.relative, 1e-4);
  EXPECT_GT(segment.deviation.ulps, 1000);
  EXPECT_THAT(segment.culprit, StartsWith("aten::special_bessel_y1")) << segment.note;
}

TEST(Verify, ComparesEveryCallOfAnEngine) {
  const torch::jit::Module module = moduleOf(
      "  for i in range(int(x.sum() * 0) + 4):\n    x = torch.tanh(torch.matmul(x, self.weight) + x)\n  return x\n");
  const Verification verification = ts::verify(module, compiled(module), {at::rand({2, 3})}, 2);
  EXPECT_TRUE(verification.agrees()) << verification.toText();
  EXPECT_EQ(verification.segments.back().calls, 4);
  EXPECT_EQ(verification.outputs.allowed, 1e-4);
}

TEST(Verify, TakesModulesWithoutEngines) {
  const torch::jit::Module module = moduleOf("  return torch.relu(x)\n");
  const Verification verification = ts::verify(module, module, {at::rand({2, 3})}, 1);
  EXPECT_TRUE(verification.agrees());
  EXPECT_TRUE(verification.segments.empty());
  EXPECT_EQ(verification.outputs.ulps, 0);
}

TEST(Verify, LooksForTheOperatorAmongThoseOfSizesToo) {
  registerWrongConverter();
  const torch::jit::Module module = moduleOf(
      "  n = x.size(0)\n  a = x.reshape(n, -1)\n  b = torch.sigmoid(a)\n"
      "  return torch.exp(torch.special_bessel_y1(b))\n");
  const Verification verification = ts::verify(module, compiled(module), {at::rand({2, 3})}, 1);
  ASSERT_NE(verification.first(), nullptr);
  EXPECT_THAT(verification.first()->culprit, StartsWith("aten::special_bessel_y1")) << verification.first()->note;
}

TEST(Verify, SeesWhatIsLeftInTheInputs) {
  const torch::jit::Module writes = moduleOf("  y = torch.sin(x)\n  x.add_(1.0)\n  return y\n");
  EXPECT_TRUE(ts::verify(writes, compiled(writes), {at::rand({2, 3})}, 2).agrees());
  const Verification verification =
      ts::verify(writes, compiled(moduleOf("  return torch.sin(x)\n")), {at::rand({2, 3})}, 1);
  EXPECT_THAT(verification.outputs.difference, HasSubstr("what is left in the inputs, value 0"));
}

TEST(Verify, LeavesStateAndRandomNumbersAlone) {
  torch::jit::Module module("m");
  module.register_buffer("state", at::zeros({2, 3}));
  module.define(
      "def forward(self, x):\n  self.state.add_(1.0)\n  return torch.sin(x + self.state) + torch.rand_like(x)\n");
  module.eval();
  const torch::jit::Module engines = compiled(module);
  const at::Tensor x = at::rand({2, 3});
  const at::Tensor random = at::detail::getDefaultCPUGenerator().get_state();
  const Verification verification = ts::verify(module, engines, {x}, 3);
  EXPECT_TRUE(verification.agrees()) << verification.verdict();
  EXPECT_TRUE(at::equal(at::detail::getDefaultCPUGenerator().get_state(), random));
  EXPECT_TRUE(at::equal(module.attr("state").toTensor(), at::zeros({2, 3})));
  EXPECT_FALSE(module.attr("state").toTensor().is_inference());
}

TEST(Verify, IsNotMisledByWritesThatLibtorchDrops) {
  const torch::jit::Module module = moduleOf("  t = torch.sin(x)\n  l = (t, x)\n  t.mul_(0.5)\n  return l\n");
  const torch::jit::Module engines = compiled(module);
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(ts::verify(module, engines, {at::rand({2, 3})}, 2).agrees());
  }
}

TEST(Verify, RefusesMisuse) {
  torch::jit::Module module = moduleOf("  return torch.relu(x)\n");
  EXPECT_THROW(ts::verify(module, module, {at::rand({1})}, 0), CompileError);
  const torch::jit::Module engines = compiled(module);
  module.register_attribute("training", c10::BoolType::get(), true);
  EXPECT_THROW(ts::verify(engines, module, {at::rand({1})}), CompileError);
  EXPECT_NO_THROW(ts::verify(module, module, {at::rand({1})})) << "both are compared in evaluation mode";
}

}  // namespace
}  // namespace torchtrt
