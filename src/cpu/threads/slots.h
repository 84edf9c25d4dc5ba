// Units of work on several threads, each with a piece of a run's scratch memory of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/align.h"
#include "cpu/threads/parallel.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels {

// A piece of scratch memory, of which each thread that works takes one: the one it had before, if it can, since that
// lies in its cache.
class Slot {
 public:
  static constexpr int64_t kMost = 64;

  // busy: a bit for each of `count` pieces.
  Slot(std::atomic<uint64_t>& busy, int64_t count) : busy_(busy) {
    thread_local int64_t last = 0;
    last %= count;
    while ((busy_.fetch_or(uint64_t{1} << last) >> last & 1) != 0) {
      last = (last + 1) % count;
    }
    index_ = last;
  }
  ~Slot() {
    busy_.fetch_and(~(uint64_t{1} << index_));
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  int64_t index() const {
    return index_;
  }

 private:
  std::atomic<uint64_t>& busy_;
  int64_t index_;
};

// body(memory, unit) for each unit, on up to `slots` threads, each with `slot_bytes` of the scratch memory of its own.
template <typename Body>
void runUnits(const RunArgs& args, int64_t units, int64_t slots, size_t slot_bytes, const Body& body) {
  std::atomic<uint64_t> busy = 0;
  const auto threads = static_cast<int>(std::min<int64_t>(slots, args.threads));
  parallelFor(threads, 0, units, 1, [&](int64_t begin, int64_t end) {
    const Slot slot(busy, slots);
    std::byte* memory = static_cast<std::byte*>(args.scratch) + slot_bytes * static_cast<size_t>(slot.index());
    for (int64_t unit = begin; unit < end; ++unit) {
      body(memory, unit);
    }
  });
}

// Cuts a slot's memory into aligned pieces.
template <typename T>
T* takePiece(std::byte*& memory, size_t count) {
  return reinterpret_cast<T*>(std::exchange(memory, memory + alignUp(count * sizeof(T))));
}

}  // namespace torchtrt::kernels
