// Faults in the data that show after the call that met them, on devices with streams: told by the step, to a later call
// in the same stream. Private to this folder.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "device/faults.h"
#include "engine/loading/model.h"

namespace torchtrt::engine {

class Faults {
 public:
  explicit Faults(const Model& model);

  // Returns the words to which calls in a stream report; null where faults show in the call itself. Calls that a caller
  // records share them: nobody knows in which streams they will run.
  std::shared_ptr<device::FaultWords> wordsOf(device::Stream stream, bool is_captured);
  // Throws the EngineError of an earlier call in this stream, or of a recorded one, with its step's location.
  void check(device::FaultWords* words);
  // Waits for the stream, and forgets the faults of earlier calls in it.
  void discard(device::Stream stream);

 private:
  static constexpr size_t kMostStreams = 64;
  using Entry = std::pair<void*, std::shared_ptr<device::FaultWords>>;

  void throwFault(device::FaultWords& words) const;

  const Model& model_;
  const device::FaultReporter* reporter_;
  std::mutex mutex_;
  std::list<Entry> streams_;  // used last first
  std::shared_ptr<device::FaultWords> captured_;
};

}  // namespace torchtrt::engine
