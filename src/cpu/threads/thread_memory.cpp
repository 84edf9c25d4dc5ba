#include "cpu/threads/thread_memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

constexpr std::align_val_t kAligned{kAlignment};
// A thread keeps no more than this of its own accord: transforms of long signals take many times as much.
constexpr size_t kMostKept = size_t{1} << 20;
// The address sanitizer sees what is written behind a block of the heap, and nothing inside of a stack.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

// The most that any thread has needed at a time.
std::atomic<size_t> most_needed = 0;

// A stack of blocks. One that does not fit comes from the heap, and has its place noted in front of it. When the stack
// is empty again, it grows to what was needed.
struct Stack {
  std::byte* base;
  size_t capacity;
  size_t used;    // also by blocks of the heap
  size_t needed;  // the most of `used`
  size_t blocks;  // taken and not given back

  bool holds(const std::byte* memory) const {
    return memory >= base && memory < base + capacity;
  }
  void take(size_t bytes) {
    used += bytes;
    needed = std::max(needed, used);
    ++blocks;
  }
  void give(size_t place, size_t bytes) {
    --blocks;
    used = blocks == 0 ? 0 : place + bytes == used ? place : used;
  }
  void free() {
    ::operator delete(base, kAligned);
    base = nullptr;
    capacity = 0;
  }
  // Throws std::bad_alloc, and has no memory then.
  void grow(size_t bytes) {
    if (bytes > capacity) {
      free();
      base = static_cast<std::byte*>(::operator new(bytes, kAligned));
      capacity = bytes;
    }
  }
};

// Has no destructor, so that it can still be used when the thread's objects go. From then on it keeps nothing.
constinit thread_local Stack stack{};
constinit thread_local bool is_closed = false;

void closeWithThread() {
  struct Closer {
    ~Closer() {
      is_closed = true;
      if (stack.blocks == 0) {
        stack.free();
      }
    }
  };
  thread_local const Closer closer;
  static_cast<void>(closer);
}

void keep(size_t bytes) {
  if (kKeeps && !is_closed && stack.blocks == 0 && bytes > stack.capacity) {
    closeWithThread();
    stack.grow(std::bit_ceil(bytes));
  }
}

// Also of a block without elements, which has a place of its own.
size_t sizeOfBlock(size_t bytes) {
  return alignUp(std::max<size_t>(bytes, 1));
}

void noteNeed(size_t bytes) {
  size_t most = most_needed.load(std::memory_order_relaxed);
  while (bytes > most && !most_needed.compare_exchange_weak(most, bytes, std::memory_order_relaxed)) {
  }
}

}  // namespace

namespace detail {

void* takeThreadBytes(size_t bytes) {
  const size_t size = sizeOfBlock(bytes);
  if (stack.used + size <= stack.capacity) {
    std::byte* const memory = stack.base + stack.used;
    stack.take(size);
    return memory;
  }
  auto* const memory = static_cast<std::byte*>(::operator new(kAlignment + size, kAligned));
  new (memory) size_t(stack.used);
  stack.take(size);
  return memory + kAlignment;
}

void giveThreadBytes(void* memory, size_t bytes) noexcept {
  const size_t size = sizeOfBlock(bytes);
  auto* const given = static_cast<std::byte*>(memory);
  if (stack.holds(given)) {
    stack.give(static_cast<size_t>(given - stack.base), size);
  } else {
    std::byte* const block = given - kAlignment;
    stack.give(*std::launder(reinterpret_cast<size_t*>(block)), size);
    ::operator delete(block, kAligned);
  }
  if (stack.blocks == 0 && stack.needed > stack.capacity) {
    noteNeed(stack.needed);
    try {
      keep(std::min(stack.needed, kMostKept));
    } catch (const std::bad_alloc&) {  // the heap serves
    }
  }
}

}  // namespace detail

void keepThreadMemory(int threads) {
  const size_t bytes = most_needed.load(std::memory_order_relaxed);
  std::atomic<bool> failed = false;
  onEachThread(threads, [&] {
    try {
      keep(bytes);
    } catch (const std::bad_alloc&) {
      failed.store(true, std::memory_order_relaxed);
    }
  });
  if (failed) {
    throw std::bad_alloc();
  }
}

}  // namespace torchtrt::kernels
