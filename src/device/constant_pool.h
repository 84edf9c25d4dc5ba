// Pools of memory for constants: chunks in huge pages, shared out in pieces. Private to this folder; kernels and
// engines use constants.h.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "device/device.h"
#include "device/shared_pages.h"

namespace torchtrt::device {

// One piece of memory, shared out. First fit; neighbours that are free become one again.
class Chunk {
 public:
  explicit Chunk(Memory memory);

  std::byte* begin() const {
    return static_cast<std::byte*>(memory_.data());
  }
  bool isEmpty() const {
    return free_.size() == 1 && free_.begin()->second == memory_.bytes();
  }
  void* take(size_t bytes);  // null where no gap is large enough
  void giveBack(void* data);
  void trim();  // gives the system back what lies behind the last piece
  // Has other processes share the pages up to the last piece. Nothing may be taken or written afterwards. Returns the
  // bytes that are shared now.
  size_t share();

 private:
  enum Advice : uint8_t { kHuge, kGivenBack };

  size_t used() const;  // up to the last piece's end
  void advise(Advice advice) const;

  Memory memory_;
  size_t trimmed_ = memory_.bytes();  // the system has back what lies behind
  std::map<size_t, size_t> free_;     // bytes by offset, as are those of
  std::map<size_t, size_t> taken_;
  SharedPages shared_;
};

// Any thread may use any pool. A fork waits until no thread is in one.
class ConstantPool {
 public:
  explicit ConstantPool(size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  void* take(size_t bytes, const std::string& purpose);  // null where there is no memory for another chunk
  void giveBack(void* data);
  void trim();
  size_t share();  // of all chunks, see Chunk::share

 private:
  size_t chunk_bytes_;
  std::map<std::byte*, Chunk> chunks_;  // by their first byte
};

}  // namespace torchtrt::device
