#include "compiler/stop_after.h"

#include <algorithm>
#include <utility>

#include "torchtrt/error.h"

namespace torchtrt::compiler {

namespace {

thread_local std::optional<Phase> last_phase;

Phase phaseNamed(const std::string& name) {
  const auto* const found =
      std::find_if(kPhases.begin(), kPhases.end(), [&](const PhaseInfo& info) { return name == info.name; });
  if (found == kPhases.end()) {
    std::string names;
    for (const PhaseInfo& info : kPhases) {
      names += (names.empty() ? "" : ", ") + std::string(info.name);
    }
    throw CompileError(ErrorCode::kInvalidOption, "there is no phase named '" + name + "'", {}, "phases: " + names);
  }
  return found->phase;
}

}  // namespace

StopAfter::StopAfter(const std::string& phase) : outer_(std::exchange(last_phase, phaseNamed(phase))) {}

StopAfter::~StopAfter() {
  last_phase = outer_;
}

void stopBefore(Phase phase) {
  if (last_phase && phase > *last_phase) {
    throw Stopped();
  }
}

}  // namespace torchtrt::compiler
