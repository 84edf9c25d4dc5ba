// A device as the engine sees it: memory, copies, and the order of work on it. Kernels are not its business.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "torchtrt/device_memory.h"
#include "torchtrt/export.h"

namespace torchtrt::device {

struct Properties {
  std::string name;     // "cpu", "null", "NVIDIA H100 80GB HBM3"
  std::string isa;      // instruction sets that matter to kernels, "avx2 avx512 avx512_vnni", "sm_90"
  int cores = 1;        // how many the process may use: affinity mask and cgroup quota
  size_t l1_bytes = 0;  // data caches, per core as the system reports them; 0 where unknown
  size_t l2_bytes = 0;
  size_t l3_bytes = 0;
  size_t memory_bytes = 0;  // physical memory, or the cgroup's limit where that is lower; 0 where unknown
};

class Device;

// A piece of device memory, given back when this dies. Move-only; an empty one has no device.
class TORCHTRT_API Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  void* data() const {
    return data_;
  }  // null on a device without memory, or when empty
  size_t bytes() const {
    return bytes_;
  }

 private:
  friend class Device;
  Memory(const Device* device, void* data, size_t bytes, Stream stream, std::shared_ptr<MemorySource> source)
      : device_(device), data_(data), bytes_(bytes), stream_(stream), source_(std::move(source)) {}
  const Device* device_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Stream stream_;
  std::shared_ptr<MemorySource> source_;  // null: the device's own
};

// Measures the time that a device spends on the work between two calls.
class TORCHTRT_API Timer {
 public:
  virtual ~Timer() = default;
  virtual void start(Stream stream) = 0;
  virtual void stop(Stream stream) = 0;
  virtual double microseconds() = 0;  // waits for the work
};

// Work that was recorded once and is given to a stream as a whole: same kernels, same pointers.
class TORCHTRT_API Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay(Stream stream) const = 0;
};

class TORCHTRT_API Device {
 public:
  virtual ~Device() = default;
  virtual const Properties& properties() const = 0;

  // The backend whose kernels run here: "cpu", "cuda".
  virtual const char* kind() const {
    return "cpu";
  }
  // Returns the number of this device among those of its kind.
  virtual int index() const {
    return 0;
  }
  // True if the host reads its memory, and work has ended when the call that gave it returns. Streams mean nothing
  // then.
  virtual bool isHost() const {
    return true;
  }
  // Returns the number of host threads for a call that was asked to use `asked`.
  virtual int threadsOf(int asked) const {
    return asked;
  }

  // 64-byte aligned, uninitialised. The memory is used, and given back, in the order of `stream`. Throws
  // EngineError(kOutOfMemory) that says how much was wanted and what for.
  Memory allocate(size_t bytes, const std::string& purpose, Stream stream = {},
                  std::shared_ptr<MemorySource> source = nullptr) const;

  // Copies `bytes` bytes. All throw EngineError where the device fails.
  // From the host's memory, which may be changed when this returns.
  virtual void copyIn(void* to, const void* from, size_t bytes, Stream stream) const;
  // Copies to the host's memory, complete when this returns.
  virtual void copyOut(void* to, const void* from, size_t bytes, Stream stream) const;
  virtual void copyWithin(void* to, const void* from, size_t bytes, Stream stream) const;
  virtual void zero(void* to, size_t bytes, Stream stream) const;
  // Returns when all work that was given to the stream has ended. Throws the EngineError of work that failed.
  virtual void wait(Stream stream) const;
  // Throws the EngineError of work that failed since the last time; waits for nothing. An engine asks when it begins.
  virtual void checkFaults() const {}

  // True while somebody records what is given to the stream: work is not run then, so nothing may wait for it.
  virtual bool isCapturing(Stream) const {
    return false;
  }

  virtual std::unique_ptr<Timer> timer() const;
  // Runs `body` without effect on memory and returns the work that it gave to its stream; null where the device cannot
  // record.
  virtual std::unique_ptr<Recording> record(const std::function<void(Stream)>& body) const;

 protected:
  virtual void* allocateBytes(size_t bytes, Stream stream) const = 0;  // null when there is not enough
  virtual void freeBytes(void* data, size_t bytes, Stream stream) const = 0;
  virtual bool hasMemory() const {
    return true;
  }  // false: allocateBytes gives null and that is right

 private:
  friend class Memory;
};

TORCHTRT_API const Device& cpu();
// Accepts every size and allocates nothing: plans can be laid out for shapes that this machine could never run.
TORCHTRT_API const Device& nullDevice();

}  // namespace torchtrt::device
