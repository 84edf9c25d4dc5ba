// Results held against PyTorch's in a call that nobody gave: what is found by it, and what it does not judge.
#include "compiler/checking/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <cstdlib>

#include "compiler/checking/wrong_converter.h"
#include "compiler/compile.h"
#include "compiler/segments/segment_engines.h"

namespace torchtrt::compiler {
namespace {

using ::testing::HasSubstr;
using Sizes = std::vector<int64_t>;

class NotStrict {
 public:
  NotStrict() : before_(isStrict()) {
    setenv("TORCHTRT_STRICT", "0", /*overwrite=*/1);
  }
  ~NotStrict() {
    setenv("TORCHTRT_STRICT", before_ ? "1" : "0", /*overwrite=*/1);
  }
  NotStrict(const NotStrict&) = delete;
  NotStrict& operator=(const NotStrict&) = delete;

 private:
  bool before_;
};

Report reportOf(const std::string& body, ts::CompileSpec spec = {std::vector<Input>{Input(Sizes{2, 3})}}) {
  registerWrongConverter();
  torch::jit::Module module("m");
  module.register_buffer("state", at::zeros({2, 3}));
  module.define("def forward(self, x):\n" + body);
  module.eval();
  spec.min_block_size = 1;
  Report report;
  ts::compile(module, spec, &report);
  return report;
}

// Returns the place of the wrong operator, and the reason.
std::string reasonOf(const Report& report) {
  for (const Report::Node& node : report.nodes) {
    if (node.node.starts_with("aten::special_bessel_y1")) {
      return node.target + ": " + node.reason;
    }
  }
  return "no such node";
}

constexpr const char* kWrong = "  return torch.exp(torch.special_bessel_y1(torch.sigmoid(x)))\n";

TEST(MadeUpCall, FindsTheOperatorThatIsConvertedWrong) {
  const NotStrict not_strict;
  const std::string reason = reasonOf(reportOf(kWrong));
  EXPECT_THAT(reason,
              HasSubstr("torch: the engine disagrees with PyTorch on inputs made within what the Inputs say: "));
}

// Each engine is held against PyTorch by itself, so that only the wrong one changes.
TEST(MadeUpCall, FindsTheWrongOneOfTwoEngines) {
  const NotStrict not_strict;
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{2, 3})});
  spec.torch_executed_ops = {"aten::cos"};
  const Report report =
      reportOf("  a = torch.cos(torch.exp(x))\n  return torch.exp(torch.special_bessel_y1(torch.sigmoid(a)))\n", spec);
  EXPECT_THAT(reasonOf(report), HasSubstr("torch: the engine disagrees with PyTorch"));
  EXPECT_EQ(report.engineSegments(), 3) << report.toText();
}

TEST(MadeUpCall, EndsTheCompileWhereStrictOrNothingMayRunInPyTorch) {
  ts::CompileSpec full(std::vector<Input>{Input(Sizes{2, 3})});
  full.require_full_compilation = true;
  EXPECT_THROW(reportOf(kWrong), InternalError);
  const NotStrict not_strict;
  EXPECT_THROW(reportOf(kWrong, full), CompileError);
}

TEST(MadeUpCall, IsSwitchedOff) {
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{2, 3})});
  spec.check_results = false;
  EXPECT_EQ(reasonOf(reportOf(kWrong, spec)), "engine: converts");
  spec.sample_inputs = {at::rand({2, 3})};
  EXPECT_EQ(reasonOf(reportOf(kWrong, spec)), "engine: converts");
}

TEST(MadeUpCall, OfADomainStaysWithinIt) {
  const std::string body = "  assert bool((x >= 5).all()), 'too small'\n" + std::string(kWrong);
  EXPECT_EQ(reasonOf(reportOf(body)), "engine: converts");  // PyTorch refuses numbers between 0 and 2
  const NotStrict not_strict;
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{2, 3}, DataType::kFloat, std::vector<double>{5, 6})});
  EXPECT_THAT(reasonOf(reportOf(body, spec)), HasSubstr("disagrees"));
}

TEST(MadeUpCall, DoesNotJudgeWhatRoundingDecides) {
  const std::string body =
      "  a = torch.special_bessel_y1(torch.sigmoid(x))\n  noise = torch.sin(torch.exp(a * 40.0) * 1e20)\n";
  EXPECT_EQ(reasonOf(reportOf(body + "  return noise\n")), "engine: converts");
  try {
    reportOf(body + "  return noise, torch.exp(a)\n");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("value 1: the largest difference"));
  }
}

TEST(MadeUpCall, DoesNotJudgeWherePyTorchGivesNaN) {
  EXPECT_EQ(reasonOf(reportOf("  return torch.sqrt(torch.special_bessel_y1(torch.sigmoid(x)))\n")), "engine: converts");
}

TEST(MadeUpCall, DoesNotJudgeRandomNumbers) {
  EXPECT_EQ(reasonOf(reportOf("  return torch.rand_like(torch.special_bessel_y1(x)) * torch.special_bessel_y1(x)\n")),
            "engine: converts");
}

// A graph that declares float32 takes no other tensors, whatever the Inputs say.
TEST(MadeUpCall, IsNotMadeWhereDeclaredTypesForbidIt) {
  registerWrongConverter();
  const auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"IR(
graph(%x : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)):
  %y : Tensor = aten::special_bessel_y1(%x)
  return (%y))IR",
                      graph.get());
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{2, 3}, DataType::kDouble)});
  spec.min_block_size = 1;
  EXPECT_EQ(reasonOf(compile(Source{nullptr, "forward", graph}, spec).report), "engine: converts");
}

// A module that prints is not run unasked.
TEST(MadeUpCall, IsNotMadeWhereItShows) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(reasonOf(reportOf("  print('seen')\n" + std::string(kWrong))), "engine: converts");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(MadeUpCall, LeavesTheStateAlone) {
  torch::jit::Module module("m");
  module.register_buffer("state", at::zeros({2, 3}));
  module.define("def forward(self, x):\n  self.state.add_(1.0)\n  return torch.sin(x) + self.state\n");
  module.eval();
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{2, 3})});
  spec.min_block_size = 1;
  torch::jit::Module compiled = ts::compile(module, spec);
  EXPECT_TRUE(at::equal(module.attr("state").toTensor(), at::zeros({2, 3})));
  EXPECT_TRUE(at::allclose(compiled.forward({at::zeros({2, 3})}).toTensor(), at::ones({2, 3})));
}

}  // namespace
}  // namespace torchtrt::compiler
