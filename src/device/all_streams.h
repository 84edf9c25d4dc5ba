// Devices with streams offer this beside their contract: to wait for all streams.
#pragma once

#include "torchtrt/export.h"

namespace torchtrt::device {

class TORCHTRT_API AllStreams {
 public:
  virtual ~AllStreams() = default;
  // Returns when all work that was given to any stream has ended. Reports no faults in data. Throws EngineError where
  // the device cannot wait, as while somebody records a stream.
  virtual void waitForAll() const = 0;
};

}  // namespace torchtrt::device
