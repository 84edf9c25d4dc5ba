// An asynchronous device made of the host's memory, for tests of the code that runs engines on devices. It behaves as a
// GPU does where that is hardest on its user:
// - The process cannot read its memory. Each piece of work sees what it was given, while it runs, and nothing else. A
//   read by the host ends the process with a line.
// - Work waits in a queue per stream. It runs when somebody waits, in another thread. Streams that nobody waited for
//   run before it, after it, or in between, as the seed says.
// - Memory is given back in the order of its stream, filled with 0xFF then, and taken again by the same stream at once.
// - Work that uses memory of another stream's work which the host has not waited for ends the process with a line. So
//   does work with memory that is the host's, that was given back, or that ends too early.
// - A recording cannot always be made, nor renewed, as the seed says.
// Kernels are not its business: deferred_backend.h runs the CPU's on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "device/all_streams.h"
#include "device/device.h"
#include "device/faults.h"
#include "device/recorder.h"

namespace torchtrt::testing {

class DeferredDevice : public device::Device,
                       public device::AllStreams,
                       public device::Recorder,
                       public device::FaultReporter {
 public:
  struct Span {
    const void* data = nullptr;
    size_t bytes = 0;  // 0: not looked at
  };
  // A piece of work. It may be copied, and run more than once: recordings do.
  struct Work {
    std::string name;
    std::vector<Span> reads, writes;
    std::function<void()> run;
    std::function<void(const EngineError&)> report = nullptr;  // where its fault goes; null: to checkFaults()
  };

  explicit DeferredDevice(uint64_t seed = 1);
  ~DeferredDevice() override;

  const device::Properties& properties() const override {
    return properties_;
  }
  const char* kind() const override {
    return "deferred";
  }
  bool isHost() const override {
    return false;
  }
  void copyIn(void* to, const void* from, size_t bytes, device::Stream stream) const override;
  void copyOut(void* to, const void* from, size_t bytes, device::Stream stream) const override;
  void copyWithin(void* to, const void* from, size_t bytes, device::Stream stream) const override;
  void zero(void* to, size_t bytes, device::Stream stream) const override;
  void wait(device::Stream stream) const override;
  void waitForAll() const override;
  void checkFaults() const override;
  bool isCapturing(device::Stream stream) const override;
  std::unique_ptr<device::Timer> timer() const override;
  std::unique_ptr<device::Recording> record(const std::function<void(device::Stream)>& body) const override;
  std::unique_ptr<device::PartRecording> recordParts(size_t parts, const device::PartBody& body) const override;
  std::unique_ptr<device::FaultWords> faultWords(size_t steps) const override;
  // Writes a fault to the word of the scope that this is called in; null outside of every scope. It may be called when
  // the words are gone.
  static std::function<void(const EngineError&)> reporter();

  // Gives work to a stream, or to the recording of what is given to it.
  void give(device::Stream stream, Work work) const;
  // Records a stream as a user does: later work is kept, not run. Waiting for it is a fault.
  void beginCapture(device::Stream stream) const;
  std::unique_ptr<device::Recording> endCapture(device::Stream stream) const;

  // Tests ask these for what was done.
  size_t liveBytes() const;    // asked for and not given back
  size_t pendingWork() const;  // given and not run
  size_t recordings() const {
    return recordings_;
  }
  size_t replays() const {
    return replays_;
  }
  size_t renewals() const {
    return renewals_;
  }

 protected:
  void* allocateBytes(size_t bytes, device::Stream stream) const override;
  void freeBytes(void* data, size_t bytes, device::Stream stream) const override;

 private:
  friend class DeferredRecording;
  using StreamId = void*;
  // A use of a block: the work of that number in a stream.
  using Uses = std::map<StreamId, uint64_t>;
  struct Block {
    size_t bytes = 0;   // as asked for
    size_t mapped = 0;  // whole pages, and one line at least behind the end
    bool is_live = false;
    Uses reads, writes;  // the last ones of each stream
  };
  using Blocks = std::map<std::byte*, Block>;
  struct Lane {
    uint64_t given = 0, waited = 0;  // numbers of work: the last given, the last that the host has waited for
    std::deque<Work> queue;
  };

  // All below are called with the lock held.
  Blocks::iterator blockOf(const void* data) const;
  void checkSpan(const Work& work, const Span& span) const;
  void noteUse(const Work& work, const Span& span, bool is_write, StreamId stream, uint64_t number) const;
  // Ends the process unless the host has waited for all of these uses by other streams.
  void checkOrder(const Uses& uses, StreamId stream, const std::string& what) const;
  void enqueue(StreamId stream, Work work) const;
  bool isOrdered(const Uses& uses, StreamId stream) const;
  // The work that `body` gives to a stream of its own.
  std::vector<Work> captured(const std::function<void(device::Stream)>& body) const;
  std::vector<Work> takeCapture(device::Stream stream) const;
  bool happensToRefuse() const;
  void refuseCapturing(device::Stream stream, const char* what) const;
  void runLane(StreamId stream) const;
  std::vector<Work> takeInSomeOrder(StreamId stream) const;
  void runAll(const std::vector<Work>& work) const;
  void runOne(const Work& work) const;
  void protect(const Work& work, int protection) const;

  device::Properties properties_;
  std::byte* region_ = nullptr;

  mutable std::recursive_mutex mutex_;
  mutable std::byte* end_ = nullptr;  // of what was ever given out
  mutable Blocks blocks_;
  mutable std::map<StreamId, Lane> lanes_;
  mutable std::map<StreamId, std::vector<Work>> captures_;
  mutable std::mt19937_64 random_;
  mutable std::exception_ptr fault_;
  mutable size_t recordings_ = 0, replays_ = 0, renewals_ = 0;
};

}  // namespace torchtrt::testing
