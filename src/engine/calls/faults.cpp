#include "engine/calls/faults.h"

#include <algorithm>
#include <optional>

namespace torchtrt::engine {

Faults::Faults(const Model& model)
    : model_(model), reporter_(dynamic_cast<const device::FaultReporter*>(model.device)) {}

std::shared_ptr<device::FaultWords> Faults::wordsOf(device::Stream stream, bool is_captured) {
  if (reporter_ == nullptr) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (is_captured) {
    if (captured_ == nullptr) {
      captured_ = reporter_->faultWords(model_.plan.steps.size());
    }
    return captured_;
  }
  auto found =
      std::find_if(streams_.begin(), streams_.end(), [&](const Entry& entry) { return entry.first == stream.handle; });
  if (found == streams_.end()) {
    streams_.emplace_front(stream.handle, reporter_->faultWords(model_.plan.steps.size()));
    found = streams_.begin();
    if (streams_.size() > kMostStreams) {
      streams_.pop_back();
    }
  }
  streams_.splice(streams_.begin(), streams_, found);
  return found->second;
}

void Faults::check(device::FaultWords* words) {
  if (words == nullptr) {
    return;
  }
  throwFault(*words);
  std::shared_ptr<device::FaultWords> captured;
  {
    const std::lock_guard lock(mutex_);
    captured = captured_;
  }
  if (captured != nullptr && captured.get() != words) {
    throwFault(*captured);
  }
}

void Faults::discard(device::Stream stream) {
  const std::shared_ptr<device::FaultWords> words = wordsOf(stream, false);
  if (words == nullptr) {
    return;
  }
  model_.device->wait(stream);
  while (words->take()) {
  }
}

void Faults::throwFault(device::FaultWords& words) const {
  if (const std::optional<device::FaultWords::Fault> fault = words.take()) {
    const plan::Step& step = model_.plan.steps[fault->step];
    throw EngineError(fault->error.code(), "step '" + step.name + "': " + fault->error.message(), step.location,
                      fault->error.advice());
  }
}

}  // namespace torchtrt::engine
