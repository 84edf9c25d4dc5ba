#include "compiler/compile_watch.h"

#include <utility>

#include "base/logging.h"

namespace torchtrt::compiler {

CompileWatch::CompileWatch(CompileWatcher watcher, const PhaseClock& clock)
    : watcher_(std::move(watcher)), clock_(clock) {
  if (watcher_) {
    scope_.emplace([this] { watcher_(clock_.progress()); });
  }
}

void CompileWatch::end() {
  if (!scope_) {
    return;
  }
  scope_.reset();
  CompileProgress last = clock_.progress();
  last.is_done = true;
  try {
    watcher_(last);
  } catch (...) {
    TORCHTRT_LOG(kDEBUG, "the watcher fails when the compile has ended");
  }
}

}  // namespace torchtrt::compiler
