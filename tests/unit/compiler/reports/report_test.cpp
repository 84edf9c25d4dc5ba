#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torchtrt/compile.h"

namespace torchtrt {
namespace {

Report exampleReport() {
  Report report;
  report.module = "__torch__.Net.forward";
  report.precision = {{"fc", "float32", 1}};
  report.phases = {{"lowering", 1.5}, {"building", 2.25}};
  Report::Segment engine;
  engine.index = "0";
  engine.name = "net_engine";
  engine.target = "engine";
  engine.nodes = {"aten::relu # net.py:3:4", "aten::tanh"};
  engine.inputs = {"x: float32 [s0, 3]"};
  engine.outputs = {"output_0: float32 [s0, 3]"};
  engine.milliseconds = 2.5;
  engine.memory_bytes = 64;
  engine.steps = {{"relu_0", "activation", "net.py:3:4"}};
  Report::Segment torch;
  torch.index = "1";
  torch.target = "torch";
  torch.nodes = {"aten::lgamma"};
  torch.reasons = {"no \"converter\""};
  torch.inputs = {"%y: Tensor"};
  report.segments = {engine, torch};
  report.nodes = {{"aten::relu # net.py:3:4", "engine", "converts", "converts"},
                  {"aten::tanh", "engine", "converts", "converts"},
                  {"aten::lgamma", "torch", "no-converter", "no \"converter\""},
                  {"prim::TupleConstruct", "torch", "carried", "made where it is needed"}};
  report.source_lines = {{"net.py:3", "return torch.relu(x) + y"}};
  return report;
}

TEST(Report, SummaryIsOneLine) {
  EXPECT_EQ(exampleReport().summary(),
            "__torch__.Net.forward: 1 engine, 1 segment in PyTorch, 66% of 3 nodes in engines; in PyTorch: "
            "1x no \"converter\"");
}

TEST(Report, SummaryTellsAsManyReasonsAsFitIntoALine) {
  Report report = exampleReport();
  const auto add = [&report](const std::string& reason, int times) {
    report.nodes.insert(report.nodes.end(), static_cast<size_t>(times), {"aten::x", "torch", "no-converter", reason});
  };
  add(std::string(158, 'x') + "\xc3\xa4" + std::string(200, 'y'), 4);
  add("a second reason", 3);
  add("a third reason", 2);
  EXPECT_THAT(report.summary(),
              ::testing::EndsWith("; in PyTorch: 4x " + std::string(157, 'x') + "...; and 3 more reasons"));
  report.nodes.erase(report.nodes.begin() + 4, report.nodes.begin() + 8);
  EXPECT_THAT(report.summary(),
              ::testing::EndsWith("; in PyTorch: 3x a second reason; 2x a third reason; 1x no \"converter\""));
  add(std::string(130, 'z'), 1);
  EXPECT_THAT(report.summary(), ::testing::EndsWith("2x a third reason; 1x no \"converter\"; and 1 more reason"));
}

TEST(Report, SummaryBeginsWithTheShareOfTimeWhereThatIsKnown) {
  Report report = exampleReport();
  report.share_of_time = 0.919;
  EXPECT_THAT(report.summary(), ::testing::StartsWith("__torch__.Net.forward: engines take over 91% of PyTorch's time; "
                                                      "1 engine, 1 segment in PyTorch, "));
  EXPECT_THAT(report.toJson(), ::testing::HasSubstr(R"("share_of_time": 0.919, )"));
  report.segments.pop_back();  // all is in an engine: there is nothing to share
  EXPECT_THAT(report.summary(), ::testing::StartsWith("__torch__.Net.forward: 1 engine, 0 segments in PyTorch, "));
}

TEST(Report, TextTellsSegmentsAndTimes) {
  EXPECT_EQ(exampleReport().toText(), exampleReport().summary() + R"(
compiled in 3.8 ms
  lowering             1.5 ms
  building             2.2 ms
precision fc = float32: 1 node
segment 0: engine, 2 nodes
  input    x: float32 [s0, 3]
  output   output_0: float32 [s0, 3]
  node     aten::relu  net.py:3:4
  node     aten::tanh
  engine   net_engine: 64 bytes of weights, 1 step: 1 activation; made in 2.5 ms
segment 1: PyTorch, 1 node
  input    %y: Tensor
  node     aten::lgamma
  because  no "converter"
)");
}

TEST(Report, TextWithoutTimesIsTheSameForEveryCompile) {
  Report report = exampleReport();
  report.phases.clear();
  report.segments[0].milliseconds = 0;
  EXPECT_THAT(report.toText(), ::testing::Not(::testing::HasSubstr(" ms")));
}

TEST(Report, TextSetsWhatIsInsideApartAndCountsWhatRepeats) {
  Report report;
  report.module = "__torch__.Net.forward";
  Report::Segment branch;
  branch.index = "2";
  branch.target = "torch";
  branch.nodes = {"prim::If # /usr/lib/python3/site-packages/net/detection.py:3:4"};
  Report::Segment inside = branch;
  inside.index = "2.1.0";
  inside.nodes = {"prim::SetAttr", "prim::SetAttr", "aten::sort # net.py:5"};
  report.segments = {branch, inside};
  EXPECT_EQ(report.toText(), report.summary() + R"(
segment 2: PyTorch, 1 node
  node     prim::If  net/detection.py:3:4
  segment 2.1.0: PyTorch, 3 nodes
    node     prim::SetAttr  (2 times)
    node     aten::sort     net.py:5
)");
}

TEST(Report, TellsWhatWasGuessedAndHowToSayIt) {
  Report report = exampleReport();
  report.guessed_sizes = {{{"ids, dimension 0", "mask, dimension 0"}, "aten::add # net.py:3:4"}};
  report.shared_dims = "ids: shared_dims={0: \"batch\"}; mask: shared_dims={0: \"batch\"}";
  EXPECT_THAT(report.toText(), testing::HasSubstr(R"(
one size, by a guess for aten::add # net.py:3:4: ids, dimension 0; mask, dimension 0; PyTorch runs other calls
where there are none, say so in the Inputs: ids: shared_dims={0: "batch"}; mask: shared_dims={0: "batch"}
)"));
  EXPECT_THAT(report.toJson(),
              testing::HasSubstr(R"("guessed_sizes": [{"places": ["ids, dimension 0", "mask, dimension 0"], )"
                                 R"("reason": "aten::add # net.py:3:4"}], "shared_dims": "ids: shared_dims)"));
}

TEST(Report, JsonTellsAll) {
  EXPECT_EQ(
      exampleReport().toJson(),
      R"({"module": "__torch__.Net.forward", "milliseconds": 3.750, "share_of_time": null, "phases": )"
      R"([{"name": "lowering", "milliseconds": 1.500}, {"name": "building", "milliseconds": 2.250}], )"
      R"("precision": [{"pattern": "fc", "dtype": "float32", "nodes": 1}], "guessed_sizes": [], "shared_dims": "", "segments": [{"index": "0", "name": "net_engine", "target": "engine", "nodes": ["aten::relu # net.py:3:4", "aten::tanh"], )"
      R"("reasons": [], "inputs": ["x: float32 [s0, 3]"], "outputs": ["output_0: float32 [s0, 3]"], )"
      R"("milliseconds": 2.500, "memory_bytes": 64, "steps": [{"name": "relu_0", "family": "activation", )"
      R"("location": "net.py:3:4"}], "timings": [], "invariant": [], "calibration": null}, {"index": "1", "name": "", "target": "torch", "nodes": ["aten::lgamma"], )"
      R"("reasons": ["no \"converter\""], "inputs": ["%y: Tensor"], "outputs": [], "milliseconds": 0.000, )"
      R"("memory_bytes": 0, "steps": [], "timings": [], "invariant": [], "calibration": null}], "nodes": )"
      R"([{"node": "aten::relu # net.py:3:4", "target": "engine", "code": "converts", "reason": "converts"}, )"
      R"({"node": "aten::tanh", "target": "engine", "code": "converts", "reason": "converts"}, )"
      R"({"node": "aten::lgamma", "target": "torch", "code": "no-converter", "reason": "no \"converter\""}, )"
      R"({"node": "prim::TupleConstruct", "target": "torch", "code": "carried", "reason": "made where it is needed"}], )"
      R"("source_lines": {"net.py:3": "return torch.relu(x) + y"}})");
}

TEST(Report, TimedKernelsThatAreNotByRuleHaveALine) {
  Report report = exampleReport();
  report.segments[0].timings = {{"conv_1", "convolution", "onednn", "packed_gemm", 12.5, 25, false},
                                {"conv_2", "convolution", "packed_gemm", "packed_gemm", 8, 8, true}};
  EXPECT_THAT(report.toText(),
              testing::HasSubstr("  timed    2 steps, 1 of them before; 1 not by rule\n"
                                 "  faster   conv_1 (convolution): onednn 12.5 us, by rule packed_gemm 25.0 us\n"));
  EXPECT_THAT(report.toJson(), testing::HasSubstr(R"("timings": [{"step": "conv_1", "family": "convolution", )"));
}

Report calibrated() {
  Report::Calibration calibration;
  calibration.calls = 4;
  calibration.error = 0.0125;
  calibration.layers = {{"conv_1", "convolution", "net.py:7:1", true, "", 0.01},
                        {"conv_2", "convolution", "", false, "it is depthwise", -1},
                        {"fc", "matrix_multiply", "", false, "it costs more", std::numeric_limits<double>::infinity()}};
  Report report = exampleReport();
  report.segments[0].calibration = calibration;
  return report;
}

TEST(Report, TextTellsWhatIsQuantized) {
  EXPECT_THAT(
      calibrated().toText(),
      ::testing::HasSubstr("  int8     1 of 3 layers, ranges from 4 calls, off by 0.0125\n"
                           "  layer    conv_1 (convolution)  net.py:7:1: int8; alone in int8 off by 0.01\n"
                           "  layer    conv_2 (convolution): float, it is depthwise\n"
                           "  layer    fc (matrix_multiply): float, it costs more; alone in int8 off by inf\n"));
  EXPECT_THAT(calibrated().summary(), ::testing::EndsWith("; int8: 1 of 3 layers, engines off by 0.0125 at most"));
}

TEST(Report, JsonTellsWhatIsQuantized) {
  EXPECT_THAT(
      calibrated().toJson(),
      ::testing::HasSubstr(
          R"("calibration": {"precision": "int8", "calls": 4, "is_cached": false, "reason": "", "error": 0.0125, "layers": [)"
          R"({"name": "conv_1", "kind": "convolution", "location": "net.py:7:1", "is_quantized": true, "reason": "", "error": 0.01}, )"
          R"({"name": "conv_2", "kind": "convolution", "location": "", "is_quantized": false, "reason": "it is depthwise", "error": null}, )"
          R"({"name": "fc", "kind": "matrix_multiply", "location": "", "is_quantized": false, "reason": "it costs more", "error": null}]})"));
}

}  // namespace
}  // namespace torchtrt
