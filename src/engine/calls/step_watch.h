// Tells somebody of each kernel run of a thread's calls: a profiler, for as long as it looks. A call that nobody
// watches pays one comparison.
#pragma once

#include <string>

#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::engine {

struct Model;
struct Action;

// One kernel run: the steps that it computes, and the family and implementation of its kernel.
struct RunningStep {
  std::string name;  // "conv_1 + relu_2"
  std::string family, implementation;
  Location location;
};

RunningStep runningStep(const Model& model, const Action& action);

class TORCHTRT_API StepWatch {
 public:
  virtual ~StepWatch() = default;
  virtual void begin(const RunningStep& step) = 0;
  virtual void end() noexcept = 0;  // of the step that began last, also where it failed
};

// As long as this lives, `watch` is told of the calls of this thread. On a device that records calls they run kernel by
// kernel meanwhile.
class TORCHTRT_API StepWatchScope {
 public:
  explicit StepWatchScope(StepWatch& watch);
  ~StepWatchScope();
  StepWatchScope(const StepWatchScope&) = delete;
  StepWatchScope& operator=(const StepWatchScope&) = delete;

 private:
  StepWatch* outer_;
};

// The watch of this thread, or null.
StepWatch* stepWatch();

}  // namespace torchtrt::engine
