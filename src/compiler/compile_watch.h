// Tells the user's watcher where a compile is, at the checkpoints that it passes. The watcher may throw there.
#pragma once

#include <optional>

#include "base/checkpoint.h"
#include "compiler/phase_clock.h"
#include "torchtrt/progress.h"

namespace torchtrt::compiler {

class CompileWatch {
 public:
  // `watcher` may be empty; then nothing is watched.
  CompileWatch(CompileWatcher watcher, const PhaseClock& clock);
  ~CompileWatch() {
    end();
  }
  CompileWatch(const CompileWatch&) = delete;
  CompileWatch& operator=(const CompileWatch&) = delete;

  // The last call of the watcher, if it is still to come.
  void end();

 private:
  CompileWatcher watcher_;
  const PhaseClock& clock_;
  std::optional<CheckpointScope> scope_;
};

// Returns the result of `body`. An interruption becomes the error that it was for.
template <typename Body>
auto interruptible(Body&& body) {
  try {
    return body();
  } catch (const Interruption& interruption) {
    std::rethrow_exception(interruption.cause);
  }
}

}  // namespace torchtrt::compiler
