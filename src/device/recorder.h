// Some devices offer this beside their contract: recordings of work in parts, whose pointers may change from replay to
// replay.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "device/device.h"
#include "torchtrt/export.h"

namespace torchtrt::device {

// Gives the work of one part to a stream.
using PartBody = std::function<void(size_t part, Stream stream)>;

// A recording that serves one call at a time.
class TORCHTRT_API PartRecording : public Recording {
 public:
  // Later replays do these parts as `body` gives them now; replays before this one are not affected. False where it
  // cannot: then the recording is of no use any more.
  virtual bool renew(const std::vector<size_t>& parts, const PartBody& body) = 0;
};

class TORCHTRT_API Recorder {
 public:
  virtual ~Recorder() = default;
  // Asks `body` for every part in order, without effect on memory. Null where the device cannot record the work.
  virtual std::unique_ptr<PartRecording> recordParts(size_t parts, const PartBody& body) const = 0;
};

}  // namespace torchtrt::device
