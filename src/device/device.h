// A device as the engine sees it: memory and properties. Streams and copies come with the first device that has them;
// kernels are not its business.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::device {

struct Properties {
  std::string name;     // "cpu", "null"
  std::string isa;      // instruction sets that matter to kernels, "avx2 avx512 avx512_vnni"
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
  Memory(const Device* device, void* data, size_t bytes) : device_(device), data_(data), bytes_(bytes) {}
  const Device* device_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

class TORCHTRT_API Device {
 public:
  virtual ~Device() = default;
  virtual const Properties& properties() const = 0;

  // 64-byte aligned, uninitialised. Throws EngineError(kOutOfMemory) that says how much was wanted and what for.
  Memory allocate(size_t bytes, const std::string& purpose) const;

 protected:
  virtual void* allocateBytes(size_t bytes) const = 0;  // null when there is not enough
  virtual void freeBytes(void* data, size_t bytes) const = 0;
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
