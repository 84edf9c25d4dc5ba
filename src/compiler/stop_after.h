// Ends a compile behind one of its phases, for a look at its result so far.
#pragma once

#include <optional>
#include <string>

#include "compiler/phases.h"
#include "torchtrt/export.h"

namespace torchtrt::compiler {

// A compile throws this where StopAfter ends it.
struct Stopped {};

// Compiles of this thread end behind a phase, as long as this lives: when they enter a later one for the first time.
class TORCHTRT_API StopAfter {
 public:
  // Throws CompileError(kInvalidOption) for a name that no phase has.
  explicit StopAfter(const std::string& phase);
  ~StopAfter();
  StopAfter(const StopAfter&) = delete;
  StopAfter& operator=(const StopAfter&) = delete;

 private:
  std::optional<Phase> outer_;
};

// Throws Stopped if a compile of this thread is to end before that phase.
void stopBefore(Phase phase);

}  // namespace torchtrt::compiler
