#include "torchtrt/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/error.h"

namespace torchtrt {
namespace {

Profile exampleProfile() {
  Profile profile;
  profile.threads = 2;
  profile.forwards = 5;
  profile.milliseconds = 4;
  profile.flops_per_second = 1e11;
  profile.bytes_per_second = 1e10;
  Profile::Engine engine;
  engine.name = "net_engine";
  engine.calls = 1;
  engine.milliseconds = 3;
  engine.steps = {{"small", "activation", "vectors", "", 500, 1e3, 2.5e6, ""},
                  {"wide", "convolution", "onednn", "net.py:3", 2000, 1e8, 1e6, ""},
                  {"least", "shuffle", "reference", "", 100, 10, 1e5, ""}};
  profile.engines = {engine};
  profile.operators = {{"aten::nms", 3, 0.5}};
  return profile;
}

TEST(Profile, StepsAreHeldAgainstBothLimits) {
  const Profile profile = exampleProfile();
  const Profile::Step& small = profile.engines[0].steps[0];
  const Profile::Step& wide = profile.engines[0].steps[1];
  EXPECT_DOUBLE_EQ(profile.shareOfPeak(wide), 0.5);  // its arithmetic takes 1 ms of the 2
  EXPECT_DOUBLE_EQ(profile.shareOfBandwidth(wide), 0.05);
  EXPECT_DOUBLE_EQ(profile.shareOfBandwidth(small), 0.5);  // its bytes take 0.25 ms of the 0.5
  EXPECT_EQ(profile.peakOf(wide), 1e11);
  EXPECT_EQ(profile.shareOfPeak(Profile::Step()), 0);
  EXPECT_EQ(profile.shareOfBandwidth(Profile::Step()), 0);
}

TEST(Profile, TextHasTheSlowestFirst) {
  EXPECT_EQ(exampleProfile().toText(2), R"(a forward: 4.000 ms (median of 5), 2 threads
the machine at its limit: 100.0 GFLOP/s in float32, 10.0 GB/s of memory, which caches exceed

     ms  share  calls  what
  3.000  75.0%      1  engine net_engine
  0.500  12.5%      3  PyTorch aten::nms
  0.500  12.5%         between them: the interpreter

engine net_engine: 3 steps, 2.600 ms, 38.5 GFLOP/s
      us  share  GFLOP/s  of peak  GB/s  of memory's  step                         where
  2000.0  76.9%     50.0      50%   0.5           5%  wide (convolution, onednn)   net.py:3
   500.0  19.2%      0.0       0%   5.0          50%  small (activation, vectors)
   100.0   3.8%                                       1 more step
)");
}

TEST(Profile, AGpuIsToldInTera) {
  Profile profile = exampleProfile();
  profile.flops_per_second = 6e13;
  profile.bytes_per_second = 3e12;
  profile.engines[0].steps = {{"wide", "convolution", "cudnn", "net.py:3", 100, 1e10, 1e8, ""}};
  profile.operators.clear();
  EXPECT_EQ(profile.toText(2), R"(a forward: 4.000 ms (median of 5), 2 threads
the machine at its limit: 60.0 TFLOP/s in float32 without tensor cores, which exceed it, 3000.0 GB/s of memory, which caches exceed

     ms  share  calls  what
  3.000  75.0%      1  engine net_engine
  1.000  25.0%         between them: the interpreter

engine net_engine: 1 step, 0.100 ms, 100.0 TFLOP/s
     us   share  TFLOP/s  of peak    GB/s  of memory's  step                       where
  100.0  100.0%    100.0     167%  1000.0          33%  wide (convolution, cudnn)  net.py:3
)");
}

TEST(Profile, FactorsOfTensorCoresHaveTheirPeak) {
  Profile profile = exampleProfile();
  profile.tensor_flops_per_second = 8e14;
  Profile::Step step = profile.engines[0].steps[1];
  EXPECT_EQ(profile.peakOf(step), 1e11);
  const std::pair<const char*, double> kPeaks[] = {
      {"float16", 8e14}, {"bfloat16", 8e14}, {"tf32", 4e14}, {"int8", 16e14}};
  for (const auto& [factors, peak] : kPeaks) {
    step.factors = factors;
    EXPECT_EQ(profile.peakOf(step), peak) << factors;
  }
  step.flops = 1e12;
  EXPECT_DOUBLE_EQ(profile.shareOfPeak(step), 0.3125);  // of 1600 TFLOP/s, in 2 ms
  profile.tensor_flops_per_second = 0;                  // not measured
  EXPECT_EQ(profile.peakOf(step), 1e11);
}

TEST(Profile, TextTellsTensorCoresThatWereMeasured) {
  Profile profile = exampleProfile();
  profile.flops_per_second = 6e13;
  profile.tensor_flops_per_second = 7.5e14;
  EXPECT_THAT(profile.toText(),
              testing::HasSubstr("at its limit: 60.0 TFLOP/s in float32, 750.0 in float16 on tensor cores, 10.0 GB/s"));
}

TEST(Profile, AnEngineThatRefusedTheInputsSaysSo) {
  Profile profile = exampleProfile();
  profile.engines[0].steps.clear();
  profile.engines[0].note = "[E003] too large";
  EXPECT_THAT(profile.toText(), testing::HasSubstr("engine net_engine: no steps, since it said: [E003] too large\n"));
}

TEST(Profile, JsonHasEverything) {
  Profile profile = exampleProfile();
  profile.engines[0].steps.resize(1);
  EXPECT_EQ(
      profile.toJson(),
      R"({"milliseconds": 4.000, "forwards": 5, "threads": 2, "flops_per_second": 100000000000, )"
      R"("tensor_flops_per_second": 0, "bytes_per_second": 10000000000, "engines": [{"name": "net_engine", "calls": 1, "milliseconds": 3.000, )"
      R"("note": "", "steps": [{"name": "small", "family": "activation", "implementation": "vectors", )"
      R"("location": "", "microseconds": 500.000, "flops": 1000, "bytes": 2500000, "factors": "", "share_of_peak": 0.000, )"
      R"("share_of_bandwidth": 0.500}]}], )"
      R"("operators": [{"name": "aten::nms", "calls": 3, "milliseconds": 0.500}]})");
}

TEST(Profile, TraceHasEnginesWithTheirStepsAndOperatorsInRows) {
  Profile profile = exampleProfile();
  profile.engines[0].steps.resize(2);
  profile.engines.push_back({"second \"engine\"", 2, 1, {}, "[E003] too large"});
  EXPECT_EQ(profile.toTrace(), R"({"displayTimeUnit": "ms", "traceEvents": [
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "engines: a call of each, its steps one after the other"}},
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "PyTorch: operators of a forward, the slowest first"}},
{"ph": "X", "name": "engine net_engine", "cat": "engine", "pid": 1, "tid": 1, "ts": 0.000, "dur": 3000.000, "args": {"calls in a forward": 1, "milliseconds of them": 3.000, "note": ""}},
{"ph": "X", "name": "small", "cat": "activation", "pid": 1, "tid": 1, "ts": 0.000, "dur": 500.000, "args": {"family": "activation", "implementation": "vectors", "location": "", "flops": 1000, "bytes": 2500000, "share of peak": 0.000, "share of bandwidth": 0.500}},
{"ph": "X", "name": "wide", "cat": "convolution", "pid": 1, "tid": 1, "ts": 500.000, "dur": 2000.000, "args": {"family": "convolution", "implementation": "onednn", "location": "net.py:3", "flops": 100000000, "bytes": 1000000, "share of peak": 0.500, "share of bandwidth": 0.050}},
{"ph": "X", "name": "engine second \"engine\"", "cat": "engine", "pid": 1, "tid": 1, "ts": 3000.000, "dur": 500.000, "args": {"calls in a forward": 2, "milliseconds of them": 1.000, "note": "[E003] too large"}},
{"ph": "X", "name": "aten::nms", "cat": "PyTorch", "pid": 1, "tid": 2, "ts": 0.000, "dur": 500.000, "args": {"calls in a forward": 3}}
]})");
}

TEST(Profile, CountsOperatorsOfAModuleWithoutEngines) {
  torch::jit::Module module("m");
  module.define("def forward(self, x):\n  return torch.relu(torch.relu(x)) + torch.linear(x, x)\n");
  const Profile profile = ts::profile(module, {at::ones({3, 3})}, 2);
  EXPECT_TRUE(profile.engines.empty());
  std::vector<std::pair<std::string, int64_t>> calls;
  for (const Profile::Operator& each : profile.operators) {
    calls.emplace_back(each.name, each.calls);
  }
  EXPECT_THAT(calls, testing::UnorderedElementsAre(std::pair("aten::relu", 2), std::pair("aten::linear", 1),
                                                   std::pair("aten::add", 1)));
  EXPECT_GT(profile.milliseconds, 0);
}

TEST(Profile, OfNoCallsIsAnError) {
  torch::jit::Module module("m");
  module.define("def forward(self, x):\n  return x\n");
  EXPECT_THROW(ts::profile(module, {at::ones({1})}, 0), CompileError);
}

}  // namespace
}  // namespace torchtrt
