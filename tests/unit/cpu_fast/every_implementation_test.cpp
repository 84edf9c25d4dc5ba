// Each line of families.cpp is a test here: the implementation against the reference, on every small problem of
// bench/kernels/problems that it takes, with guard bytes around outputs. An implementation that no line reaches fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cpu/backend.h"
#include "cpu_fast/compare.h"
#include "cpu_fast/problem_lines.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"
#include "kernels/work.h"
#include "support/call_watch.h"

namespace torchtrt::kernels {
namespace {

// The reference takes milliseconds for as much.
constexpr double kMostFlops = 3e6;
constexpr double kMostBytes = 1e6;

using Line = std::pair<std::string, std::string>;  // family, implementation

std::vector<Line> linesOfTheList() {
  std::vector<Line> lines;
  for (const Family& family : families()) {
    for (const Implementation& implementation : family.implementations) {
      if (std::string_view(implementation.name) != "reference") {
        lines.emplace_back(family.name, implementation.name);
      }
    }
  }
  return lines;
}

bool isSmall(const ParsedProblem& parsed) {
  std::vector<bool> present;
  for (const Operand& operand : parsed.problem.inputs) {
    present.push_back(operand.present);
  }
  const Work work = workOf(parsed.problem.family, *parsed.problem.attributes, tunedShapes(parsed.problem), present);
  return work.flops <= kMostFlops && work.bytes <= kMostBytes;
}

std::vector<std::string> smallProblemsOf(const std::string& family) {
  std::vector<std::string> problems;
  for (const ProblemLine& line : problemLines()) {
    if (line.text.starts_with(family + " ") && isSmall(parseProblem(line.text))) {
      problems.push_back(line.text);
    }
  }
  return problems;
}

// Results of 16 bits may be the neighbour of the reference's. Steps of a recurrent layer add up the errors of tanh.
// oneDNN rounds int8 after another sum.
CompareOptions optionsFor(const Line& line, const ParsedProblem& parsed) {
  CompareOptions options;
  options.float64_rounds = true;
  const DType out = parsed.problem.outputs[0].dtype;
  options.rtol = out == DType::kBFloat16 ? 0x1p-7 : out == DType::kFloat16 ? 0x1p-10 : 1e-5;
  options.atol = line.first == "recurrent" ? 1e-5 : 1e-6;
  options.steps = line.second == "onednn" ? 1 : 0;
  return options;
}

class EveryImplementation : public ::testing::TestWithParam<Line> {};

TEST_P(EveryImplementation, AgreesWithTheReference) {
  const auto& [family, implementation] = GetParam();
  size_t reached = 0;
  std::set<std::string> codes;
  for (const std::string& problem : smallProblemsOf(family)) {
    const CompareOptions options = optionsFor(GetParam(), parseProblem(problem));
    const std::optional<Refusal> refusal = expectMatchesReferenceIfTaken(problem, implementation, options);
    if (refusal) {
      codes.insert(refusal->code);
    } else {
      ++reached;
    }
  }
  for (const char* const lacking : {"instructions", "instruction-set", "not-built"}) {
    if (reached == 0 && codes.contains(lacking)) {
      GTEST_SKIP() << "this machine or build has it not: " << lacking;
    }
  }
  EXPECT_GT(reached, 0U) << "no line of bench/kernels/problems reaches it: add one to every_implementation.txt";
}

TEST_P(EveryImplementation, RunsInRealTimeUnlessItSaysNo) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  const auto& [family, implementation] = GetParam();
  for (const std::string& problem : smallProblemsOf(family)) {
    expectRunsInRealTime(problem, implementation);
  }
}

// They run where operands lie as no fast implementation takes them.
TEST(References, RunInRealTime) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  for (const Family& family : families()) {
    for (const std::string& problem : smallProblemsOf(family.name)) {
      expectRunsInRealTime(problem, "reference");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(List, EveryImplementation, ::testing::ValuesIn(linesOfTheList()),
                         [](const auto& info) { return info.param.first + "_" + info.param.second; });

}  // namespace
}  // namespace torchtrt::kernels
