#include "device/constants.h"

#include <pthread.h>

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "device/device.h"

namespace torchtrt::device {
namespace {

// What is at least as large has memory of its own. Only what is written to is taken from the machine.
constexpr size_t kChunkBytes = size_t{8} << 20;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kShares = false;  // neighbours would hide a read beyond the end
#else
constexpr bool kShares = true;
#endif

// One piece of memory, shared out. First fit; neighbours that are free become one again.
class Chunk {
 public:
  explicit Chunk(Memory memory) : memory_(std::move(memory)) {
    free_.emplace(size_t{0}, memory_.bytes());
  }

  std::byte* begin() const {
    return static_cast<std::byte*>(memory_.data());
  }
  bool isEmpty() const {
    return free_.size() == 1 && free_.begin()->second == memory_.bytes();
  }

  // Null where no gap is large enough.
  void* take(size_t bytes) {
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      const auto [offset, size] = *gap;
      if (size < bytes) {
        continue;
      }
      free_.erase(gap);
      if (size > bytes) {
        free_.emplace(offset + bytes, size - bytes);
      }
      return begin() + offset;
    }
    return nullptr;
  }

  void giveBack(void* data, size_t bytes) {
    auto gap = free_.emplace(static_cast<std::byte*>(data) - begin(), bytes).first;
    if (const auto next = std::next(gap); next != free_.end() && gap->first + gap->second == next->first) {
      gap->second += next->second;
      free_.erase(next);
    }
    if (gap == free_.begin()) {
      return;
    }
    if (const auto before = std::prev(gap); before->first + before->second == gap->first) {
      before->second += gap->second;
      free_.erase(gap);
    }
  }

 private:
  Memory memory_;
  std::map<size_t, size_t> free_;  // bytes by offset
};

class Pool {
 public:
  void* take(size_t bytes, const std::string& purpose) {
    const std::lock_guard lock(mutex_);
    for (auto& [begin, chunk] : chunks_) {
      if (void* data = chunk.take(bytes)) {
        return data;
      }
    }
    Chunk chunk(cpu().allocate(kChunkBytes, purpose));
    void* data = chunk.take(bytes);
    chunks_.emplace(chunk.begin(), std::move(chunk));
    return data;
  }

  void giveBack(void* data, size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto at = std::prev(chunks_.upper_bound(static_cast<std::byte*>(data)));
    at->second.giveBack(data, bytes);
    if (at->second.isEmpty()) {
      chunks_.erase(at);
    }
  }

  std::mutex& mutex() {
    return mutex_;
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, Chunk> chunks_;  // by their first byte
};

// Never destroyed: engines may outlive every other static object. A fork waits until no thread is in it.
Pool& pool() {
  static Pool* const pool = [] {
    static_cast<void>(pthread_atfork([] { device::pool().mutex().lock(); }, [] { device::pool().mutex().unlock(); },
                                     [] { device::pool().mutex().unlock(); }));
    return new Pool;
  }();
  return *pool;
}

}  // namespace

std::shared_ptr<void> allocateConstant(size_t bytes, const std::string& purpose) {
  if (bytes == 0) {
    return nullptr;
  }
  if (!kShares || bytes >= kChunkBytes) {
    auto memory = std::make_shared<Memory>(cpu().allocate(bytes, purpose));
    return {memory, memory->data()};
  }
  const size_t rounded = (bytes + Device::kAlignment - 1) / Device::kAlignment * Device::kAlignment;
  return {pool().take(rounded, purpose), [rounded](void* data) { pool().giveBack(data, rounded); }};
}

}  // namespace torchtrt::device
