// The bytes of a plan: loaded and called, by fast kernels and by the reference's.
#include "fuzz/targets/target.h"
#include "support/plan_bytes.h"
#include "support/plan_trial.h"
#include "torchtrt/plugin.h"

namespace torchtrt::fuzz {
namespace {

// Of all tensors; more takes minutes where a plan multiplies them with each other, under a sanitizer.
constexpr size_t kMostBytes = size_t{1} << 18;

bool run(std::string_view input) {
  static const bool has_plugins = (plugin::registerBuiltinPlugins(), true);
  const testing::PlanTrial trial = testing::tryPlan(std::string(input), kMostBytes);
  if (!trial.problem.empty()) {
    fail(trial.problem);
  }
  return has_plugins && trial.outcome == testing::PlanTrial::Outcome::kAnswer;
}

}  // namespace

const Target engine = {"engine", run, testing::changedPlanBytes, testing::mendPlanBytes};

}  // namespace torchtrt::fuzz
