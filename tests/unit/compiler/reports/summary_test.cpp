#include "compiler/reports/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/compile.h"
#include "torchtrt/logging.h"

namespace torchtrt::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Summary, HasItsPartsApart) {
  Report report;
  report.module = "__torch__.Net.forward";
  report.share_of_time = 0.919;
  report.segments.resize(2);
  report.segments[0].target = "engine";
  report.segments[1].target = "torch";
  report.nodes = {{"aten::relu", "engine", "converts", "converts"},
                  {"aten::lgamma", "torch", "no-converter", "no converter"},
                  {"aten::lgamma", "torch", "no-converter", "no converter"},
                  {"aten::sort", "torch", "worth", "too small"}};
  const SummaryParts parts = summaryOf(report);
  EXPECT_EQ(parts.module, "__torch__.Net.forward");
  EXPECT_EQ(parts.engines, "1 engine, 1 segment in PyTorch, 25% of 4 nodes in engines");
  EXPECT_EQ(parts.share_of_time, "engines take over 91% of PyTorch's time");
  EXPECT_THAT(parts.in_pytorch, ElementsAre("2x no converter", "1x too small"));
  EXPECT_THAT(parts.quantized, IsEmpty());
}

TEST(Summary, OfACompileIsLeftToACallerWhoAsksForIt) {
  torch::jit::Module module("m");
  module.define("def forward(self, x):\n  return torch.relu(x)\n");
  const auto told = [&] {
    ::testing::internal::CaptureStderr();
    ts::compile(module, ts::CompileSpec(std::vector<Input>{Input(std::vector<int64_t>{2})}));
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(), HasSubstr("in engines"));
  {
    const OwnSummary own_summary;
    EXPECT_THAT(told(), Not(HasSubstr("in engines")));
  }
  EXPECT_THAT(told(), HasSubstr("in engines"));
}

}  // namespace
}  // namespace torchtrt::compiler
