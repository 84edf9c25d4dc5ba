#include "device/constants.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/align.h"
#include "device/device.h"
#include "torchtrt/error.h"

namespace torchtrt::device {
namespace {

// What is at least as large has memory of its own.
constexpr size_t kLargePiece = size_t{8} << 20;
// Only what is written to is taken from the machine, but that in huge pages: what is left over behind the last piece
// that fits is lost, up to a huge page's end until it is trimmed. In 8 MiB that would be a seventh beside three
// matrices 768 x 768, in 32 MiB it is a sixtieth.
constexpr size_t kChunkBytes = size_t{32} << 20;

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
      if (offset + bytes > trimmed_) {
        advise(kHuge);
        trimmed_ = memory_.bytes();
      }
      if (size == bytes) {
        taken_.insert(free_.extract(gap));
      } else {
        taken_.emplace(offset, bytes);  // what may throw comes first
        auto rest = free_.extract(gap);
        rest.key() += bytes;
        rest.mapped() -= bytes;
        free_.insert(std::move(rest));
      }
      return begin() + offset;
    }
    return nullptr;
  }

  // Gives the system back what lies behind the last piece.
  void trim() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
    const size_t used = taken_.empty() ? 0 : taken_.rbegin()->first + taken_.rbegin()->second;
    const size_t from = roundUp(used, page);
    if (from < trimmed_) {
      trimmed_ = from;
      advise(kGivenBack);
    }
  }

  // Asks for no memory: shared_ptr's deleters must not throw.
  void giveBack(void* data) {
    auto gap = free_.insert(taken_.extract(static_cast<size_t>(static_cast<std::byte*>(data) - begin()))).position;
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
  enum Advice : uint8_t { kHuge, kGivenBack };

  // Of all from trimmed_ on. Without small pages the system would put a huge one there again after some seconds.
  void advise([[maybe_unused]] Advice advice) const {
#ifdef MADV_HUGEPAGE
    void* const from = begin() + trimmed_;
    const size_t bytes = memory_.bytes() - trimmed_;
    madvise(from, bytes, advice == kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (advice == kGivenBack) {
      madvise(from, bytes, MADV_DONTNEED);
    }
#endif
  }

  Memory memory_;
  size_t trimmed_ = memory_.bytes();  // the system has back what lies behind
  std::map<size_t, size_t> free_;     // bytes by offset, as are those of
  std::map<size_t, size_t> taken_;
};

class Pool {
 public:
  // Null where there is no memory for another chunk.
  void* take(size_t bytes, const std::string& purpose) {
    const std::lock_guard lock(mutex_);
    for (auto& [begin, chunk] : chunks_) {
      if (void* data = chunk.take(bytes)) {
        return data;
      }
    }
    try {
      Chunk chunk(cpu().allocate(kChunkBytes, purpose));
      void* data = chunk.take(bytes);
      chunks_.emplace(chunk.begin(), std::move(chunk));
      return data;
    } catch (const EngineError&) {
      return nullptr;
    }
  }

  void giveBack(void* data) {
    const std::lock_guard lock(mutex_);
    const auto at = std::prev(chunks_.upper_bound(static_cast<std::byte*>(data)));
    at->second.giveBack(data);
    if (at->second.isEmpty()) {
      chunks_.erase(at);
    }
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    for (auto& [begin, chunk] : chunks_) {
      chunk.trim();
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
  if (kShares && bytes < kLargePiece) {
    if (void* data = pool().take(alignUp(bytes), purpose)) {
      return {data, [](void* piece) { pool().giveBack(piece); }};
    }
  }
  auto memory = std::make_shared<Memory>(cpu().allocate(bytes, purpose));
  return {memory, memory->data()};
}

void trimConstants() {
  if (kShares) {
    pool().trim();
  }
}

}  // namespace torchtrt::device
