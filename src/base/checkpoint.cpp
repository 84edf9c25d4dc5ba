#include "base/checkpoint.h"

#include <utility>

namespace torchtrt {

namespace {

// Short enough for a user who waits for an end, and long enough for a watcher that takes a lock.
constexpr std::chrono::milliseconds kPeriod(100);

thread_local CheckpointScope* innermost = nullptr;

}  // namespace

CheckpointScope::CheckpointScope(std::function<void()> watcher)
    : watcher_(std::move(watcher)), next_(std::chrono::steady_clock::now()), outer_(std::exchange(innermost, this)) {}

CheckpointScope::~CheckpointScope() {
  innermost = outer_;
}

void CheckpointScope::pass() {
  if (cause_) {
    throw Interruption{cause_};
  }
  if (std::chrono::steady_clock::now() < next_) {
    return;
  }
  try {
    watcher_();
  } catch (const Interruption& interruption) {
    cause_ = interruption.cause;
  } catch (...) {
    cause_ = std::current_exception();
  }
  next_ = std::chrono::steady_clock::now() + kPeriod;
  if (cause_) {
    throw Interruption{cause_};
  }
}

void checkpoint() {
  if (innermost != nullptr) {
    innermost->pass();
  }
}

}  // namespace torchtrt
