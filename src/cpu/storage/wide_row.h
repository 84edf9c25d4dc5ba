// Rows of T as they are, or rows of 16-bit numbers as float32: widened into a buffer that stays in the cache, computed
// there and rounded once. For kernels that take a row at a time; half_rows.h converts.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cpu/storage/half_rows.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels {

// Stored is T, or uint16_t for `halves`. One for each thread; rows of at most `most` elements.
template <typename T, typename Stored>
class WideRow {
 public:
  WideRow(const HalfRows& halves, int64_t most) : halves_(halves) {
    if constexpr (kIsWidened) {
      buffer_ = takeThreadMemory<T>(static_cast<size_t>(most));
    }
  }

  // body(in, out): `count` elements each, the same place or different ones.
  template <typename Body>
  void run(const Stored* in, Stored* out, [[maybe_unused]] int64_t count, Body&& body) {
    if constexpr (kIsWidened) {
      halves_.widen(in, buffer_.get(), count);
      body(static_cast<const T*>(buffer_.get()), buffer_.get());
      halves_.narrow(buffer_.get(), out, count);
    } else {
      body(in, out);
    }
  }

 private:
  static constexpr bool kIsWidened = !std::is_same_v<T, Stored>;

  HalfRows halves_;
  ThreadMemory<T> buffer_;
};

}  // namespace torchtrt::kernels
