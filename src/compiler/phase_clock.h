// Runs phases and keeps their times; a phase that runs once per segment adds up.
#pragma once

#include <array>
#include <chrono>
#include <vector>

#include "base/logging.h"
#include "compiler/phases.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

class PhaseClock {
 public:
  template <typename Body>
  auto run(Phase phase, Body&& body) {
    const auto start = std::chrono::steady_clock::now();
    struct Stop {
      PhaseClock& clock;
      Phase phase;
      std::chrono::steady_clock::time_point start;
      ~Stop() {
        clock.add(phase, std::chrono::steady_clock::now() - start);
      }
    } stop{*this, phase, start};
    TORCHTRT_LOG(kDEBUG, "phase " << phaseInfo(phase).name << ": " << phaseInfo(phase).meaning);
    return body();
  }

  std::vector<Report::Phase> phases() const {
    std::vector<Report::Phase> result;
    for (const PhaseInfo& info : kPhases) {
      result.push_back({info.name, milliseconds_[static_cast<size_t>(info.phase)]});
    }
    return result;
  }

  double total() const {
    double sum = 0;
    for (const double milliseconds : milliseconds_) {
      sum += milliseconds;
    }
    return sum;
  }

 private:
  void add(Phase phase, std::chrono::duration<double, std::milli> elapsed) {
    milliseconds_[static_cast<size_t>(phase)] += elapsed.count();
  }

  std::array<double, kPhases.size()> milliseconds_{};
};

}  // namespace torchtrt::compiler
