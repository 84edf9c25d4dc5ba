// Places that long work passes, where whoever started it is called and may end it: between passes, layers and nodes,
// before a kernel is made or timed, in loops over weights.
#pragma once

#include <chrono>
#include <exception>
#include <functional>

#include "torchtrt/export.h"
#include "torchtrt/progress.h"

namespace torchtrt {

// Calls the watcher of this thread, if there is one and it was not called just before. Throws Interruption once that
// threw, again and again. Costs a few nanoseconds.
TORCHTRT_API void checkpoint();

// Watches the work of this thread as long as it lives. An inner one takes the place of an outer one.
class TORCHTRT_API CheckpointScope {
 public:
  explicit CheckpointScope(std::function<void()> watcher);
  ~CheckpointScope();
  CheckpointScope(const CheckpointScope&) = delete;
  CheckpointScope& operator=(const CheckpointScope&) = delete;

 private:
  friend TORCHTRT_API void checkpoint();
  void pass();

  std::function<void()> watcher_;
  std::chrono::steady_clock::time_point next_;  // time for the watcher
  std::exception_ptr cause_;                    // that the watcher threw
  CheckpointScope* outer_;
};

}  // namespace torchtrt
