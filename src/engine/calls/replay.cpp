#include "engine/calls/replay.h"

#include <algorithm>
#include <utility>

#include "base/logging.h"

namespace torchtrt::engine {

void Replay::run(const device::Device& device, device::Stream stream, const Schedule& schedule,
                 std::span<void* const> pointers, const device::PartBody& body) {
  bool is_done = false;
  if (calls_ < kCallsBefore) {
    ++calls_;
  } else if (failures_ < kMostFailures) {
    is_done = (recording_ == nullptr ? record(device, schedule, pointers, body) : renew(schedule, pointers, body)) &&
              replay(stream);
    if (!is_done) {
      recording_ = nullptr;
      ++failures_;
    }
  }
  for (size_t action = 0; action < schedule.actions.size() && !is_done; ++action) {
    body(action, stream);
  }
}

void Replay::forget() {
  recording_ = nullptr;
  calls_ = 0;
  failures_ = 0;
}

bool Replay::record(const device::Device& device, const Schedule& schedule, std::span<void* const> pointers,
                    const device::PartBody& body) {
  const size_t actions = schedule.actions.size();
  recorded_.assign(pointers.begin(), pointers.end());
  changed_.reserve(actions);
  if (const auto* const recorder = dynamic_cast<const device::Recorder*>(&device)) {
    recording_ = recorder->recordParts(actions, body);
  } else {
    recording_ = device.record([&](device::Stream stream) {
      for (size_t action = 0; action < actions; ++action) {
        body(action, stream);
      }
    });
  }
  if (recording_ == nullptr) {
    failures_ = kMostFailures;
  }
  return recording_ != nullptr;
}

bool Replay::renew(const Schedule& schedule, std::span<void* const> pointers, const device::PartBody& body) {
  changed_.clear();
  for (size_t i = 0; i < schedule.actions.size(); ++i) {
    const Action& action = schedule.actions[i];
    const std::span<void* const> own = pointers.subspan(action.first_input, action.scratch + 1 - action.first_input);
    if (!std::equal(own.begin(), own.end(), recorded_.begin() + action.first_input)) {
      changed_.push_back(i);
    }
  }
  if (changed_.empty()) {
    return true;
  }
  // A recording that is renewed in part, as where `body` throws, has pointers of both calls and must not be replayed.
  std::unique_ptr<device::Recording> recording = std::exchange(recording_, nullptr);
  auto* const parts = dynamic_cast<device::PartRecording*>(recording.get());
  if (parts == nullptr || !parts->renew(changed_, body)) {
    return false;
  }
  recording_ = std::move(recording);
  std::copy(pointers.begin(), pointers.end(), recorded_.begin());
  return true;
}

// A device that does not start the recording may still start its parts, or then say what is wrong.
bool Replay::replay(device::Stream stream) {
  try {
    recording_->replay(stream);
    return true;
  } catch (const EngineError& error) {
    TORCHTRT_LOG(kDEBUG, "a recorded call runs kernel by kernel: " << error.message());
    return false;
  }
}

}  // namespace torchtrt::engine
