// The bytes of a plan: read, printed, written again, and its arithmetic done.
#include "plan/plan.h"

#include <vector>

#include "fuzz/targets/target.h"
#include "plan/onnx.h"
#include "support/engine_call.h"
#include "support/plan_bytes.h"
#include "torchtrt/error.h"

namespace torchtrt::fuzz {
namespace {

void doArithmetic(const torchtrt::plan::Plan& plan) {
  std::vector<int64_t> symbols;
  for (const Symbol& symbol : plan.symbols) {
    symbols.push_back(symbol.opt);
  }
  std::vector<int64_t> registers;
  try {
    torchtrt::plan::runProgram(plan, symbols, registers);
  } catch (const EngineError&) {
    return;
  }
  if (registers.size() != plan.program.size()) {
    fail("expected a register for each instruction");
  }
}

bool run(std::string_view input) {
  const std::string bytes(input);
  torchtrt::plan::Plan plan;
  try {
    plan = torchtrt::plan::parse(testing::bytesOf(bytes), nullptr);
  } catch (const EngineError&) {
    return false;
  }
  doArithmetic(plan);
  const torchtrt::plan::OnnxPart part{&plan, {}};
  torchtrt::plan::onnxOf("plan", {&part, 1}, false);
  const std::string text = print(plan);
  if (print(torchtrt::plan::parse(testing::bytesOf(testing::writtenPlan(plan)), nullptr)) != text) {
    fail("the written plan reads back as another one:\n" + text);
  }
  return true;
}

}  // namespace

const Target plan = {"plan", run, testing::changedPlanBytes, testing::mendPlanBytes};

}  // namespace torchtrt::fuzz
