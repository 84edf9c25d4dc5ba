// Runs phases and keeps their times; a phase that runs once per segment adds up, and one inside of another counts for
// itself alone. Tells watchers where the compile is.
#pragma once

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "base/checkpoint.h"
#include "base/logging.h"
#include "compiler/phases.h"
#include "compiler/stop_after.h"
#include "torchtrt/compile.h"
#include "torchtrt/progress.h"

namespace torchtrt::compiler {

class PhaseClock {
 public:
  template <typename Body>
  auto run(Phase phase, Body&& body) {
    stopBefore(phase);
    struct Stop {
      PhaseClock& clock;
      Phase phase;
      Phase outer;
      double inner_of_outer;
      std::chrono::steady_clock::time_point start;
      ~Stop() {
        clock.add(phase, std::chrono::steady_clock::now() - start, inner_of_outer);
        clock.current_ = outer;
      }
    } stop{*this, phase, std::exchange(current_, phase), std::exchange(inner_, 0), std::chrono::steady_clock::now()};
    TORCHTRT_LOG(kDEBUG, "phase " << phaseInfo(phase).name << ": " << phaseInfo(phase).meaning);
    checkpoint();
    return body();
  }

  std::vector<Report::Phase> phases() const {
    std::vector<Report::Phase> result;
    for (const PhaseInfo& info : kPhases) {
      result.push_back({info.name, milliseconds_[static_cast<size_t>(info.phase)]});
    }
    return result;
  }

  // Engine phases are about engine number `engine` of `engines` from now on, counted from 1; 0 for none.
  void atEngine(size_t engine, size_t engines) {
    engine_ = engine;
    engines_ = engines;
  }

  CompileProgress progress() const {
    const std::chrono::duration<double> since_begin = std::chrono::steady_clock::now() - begin_;
    return {phaseInfo(current_).name, engine_, engine_ == 0 ? 0 : engines_, since_begin.count(), false};
  }

  double total() const {
    double sum = 0;
    for (const double milliseconds : milliseconds_) {
      sum += milliseconds;
    }
    return sum;
  }

 private:
  void add(Phase phase, std::chrono::duration<double, std::milli> elapsed, double inner_of_outer) {
    milliseconds_[static_cast<size_t>(phase)] += elapsed.count() - inner_;
    inner_ = inner_of_outer + elapsed.count();
  }

  std::array<double, kPhases.size()> milliseconds_{};
  double inner_ = 0;  // milliseconds of phases inside of the one that runs
  Phase current_ = Phase::kChecking;
  size_t engine_ = 0;
  size_t engines_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace torchtrt::compiler
