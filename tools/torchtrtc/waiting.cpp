#include "waiting.h"

#include <unistd.h>

#include <chrono>

#include "torchtrt/progress.h"

namespace torchtrtc {

Waiting::Waiting(const std::string& phase) {
  if (isatty(STDERR_FILENO) == 1) {
    thread_ = std::thread([this, phase] { show(phase); });
  }
}

Waiting::~Waiting() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Waiting::show(const std::string& phase) {
  constexpr std::chrono::milliseconds kApart(125);
  const torchtrt::CompileWatcher line = torchtrt::progressLine();
  torchtrt::CompileProgress progress;
  progress.phase = phase;
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kApart, [this] { return has_ended_; })) {
    progress.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    line(progress);
  }
  progress.is_done = true;
  line(progress);
}

}  // namespace torchtrtc
