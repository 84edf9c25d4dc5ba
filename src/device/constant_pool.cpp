#include "device/constant_pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/align.h"
#include "torchtrt/error.h"

namespace torchtrt::device {
namespace {

// Below this a copy of one's own costs less than what finding another one does.
constexpr size_t kLeastShared = size_t{256} << 10;

size_t pageBytes() {
  return static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
}

// One for all pools, which a fork holds. Never destroyed: engines may outlive every other static object.
std::mutex& poolMutex() {
  static std::mutex* const mutex = [] {
    static_cast<void>(
        pthread_atfork([] { poolMutex().lock(); }, [] { poolMutex().unlock(); }, [] { poolMutex().unlock(); }));
    return new std::mutex;
  }();
  return *mutex;
}

}  // namespace

Chunk::Chunk(Memory memory) : memory_(std::move(memory)) {
  free_.emplace(size_t{0}, memory_.bytes());
}

void* Chunk::take(size_t bytes) {
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

// Asks for no memory: shared_ptr's deleters must not throw.
void Chunk::giveBack(void* data) {
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

size_t Chunk::used() const {
  return taken_.empty() ? 0 : taken_.rbegin()->first + taken_.rbegin()->second;
}

void Chunk::trim() {
  if (const size_t from = roundUp(used(), pageBytes()); from < trimmed_) {
    trimmed_ = from;
    advise(kGivenBack);
  }
}

size_t Chunk::share() {
  trim();
  const size_t bytes = std::min(roundUp(used(), pageBytes()), memory_.bytes() / pageBytes() * pageBytes());
  if (bytes < kLeastShared || !shared_.replace(begin(), bytes)) {
    return 0;
  }
  return bytes;
}

// Advises the system about all memory from trimmed_ on. Without small pages the system would put a huge one there again
// after some seconds.
void Chunk::advise([[maybe_unused]] Advice advice) const {
#ifdef MADV_HUGEPAGE
  void* const from = begin() + trimmed_;
  const size_t bytes = memory_.bytes() - trimmed_;
  madvise(from, bytes, advice == kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (advice == kGivenBack) {
    madvise(from, bytes, MADV_DONTNEED);
  }
#endif
}

void* ConstantPool::take(size_t bytes, const std::string& purpose) {
  const std::lock_guard lock(poolMutex());
  for (auto& [begin, chunk] : chunks_) {
    if (void* data = chunk.take(bytes)) {
      return data;
    }
  }
  try {
    Chunk chunk(cpu().allocate(std::max(chunk_bytes_, bytes), purpose));
    void* data = chunk.take(bytes);
    chunks_.emplace(chunk.begin(), std::move(chunk));
    return data;
  } catch (const EngineError&) {
    return nullptr;
  }
}

void ConstantPool::giveBack(void* data) {
  const std::lock_guard lock(poolMutex());
  const auto at = std::prev(chunks_.upper_bound(static_cast<std::byte*>(data)));
  at->second.giveBack(data);
  if (at->second.isEmpty()) {
    chunks_.erase(at);
  }
}

void ConstantPool::trim() {
  const std::lock_guard lock(poolMutex());
  for (auto& [begin, chunk] : chunks_) {
    chunk.trim();
  }
}

size_t ConstantPool::share() {
  size_t bytes = 0;
  for (auto& [begin, chunk] : chunks_) {
    bytes += chunk.share();
  }
  return bytes;
}

}  // namespace torchtrt::device
