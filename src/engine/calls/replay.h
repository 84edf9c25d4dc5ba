// Gives a call's work to a device as a whole where a call of the same schedule was recorded. Private to this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/recorder.h"
#include "engine/schedule/schedule.h"

namespace torchtrt::engine {

// Replays the recording of one context, so one call uses it at a time. The first calls run as they are: shapes that
// come once or twice cost no recording. A later call with other pointers renews the actions that read or write there.
class Replay {
 public:
  static constexpr int kCallsBefore = 2;

  // `body` gives an action of the schedule to a stream, with these pointers, one per slot.
  void run(const device::Device& device, device::Stream stream, const Schedule& schedule,
           std::span<void* const> pointers, const device::PartBody& body);
  // Another schedule comes.
  void forget();

 private:
  static constexpr int kMostFailures = 3;

  bool record(const device::Device& device, const Schedule& schedule, std::span<void* const> pointers,
              const device::PartBody& body);
  bool renew(const Schedule& schedule, std::span<void* const> pointers, const device::PartBody& body);
  bool replay(device::Stream stream);

  std::unique_ptr<device::Recording> recording_;
  std::vector<void*> recorded_;  // its pointers
  std::vector<size_t> changed_;  // actions with other ones
  int calls_ = 0;
  int failures_ = 0;
};

}  // namespace torchtrt::engine
