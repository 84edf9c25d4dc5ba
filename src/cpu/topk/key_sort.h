// Sorts keys that hold a value and its position: 64 bits with the value in the upper half, or twice as many.
#pragma once

#include <compare>
#include <cstdint>

#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::topk {

struct WideKey {
  uint64_t value, position;

  auto operator<=>(const WideKey&) const = default;
};

inline uint64_t positionOf(uint64_t key) {
  return static_cast<uint32_t>(key);
}
inline uint64_t positionOf(const WideKey& key) {
  return key.position;
}

// keys[count] are in the order of positions. Afterwards the first `front` are the smallest, in order. `bits`: of the
// values that may differ, at most 32 or 64; `other` is memory to work with. Key is uint64_t or WideKey.
template <typename Key>
void sortKeys(ThreadVector<Key>& keys, ThreadVector<Key>& other, int64_t front, int bits);

extern template void sortKeys<uint64_t>(ThreadVector<uint64_t>& keys, ThreadVector<uint64_t>& other, int64_t front,
                                        int bits);
extern template void sortKeys<WideKey>(ThreadVector<WideKey>& keys, ThreadVector<WideKey>& other, int64_t front,
                                       int bits);

}  // namespace torchtrt::kernels::topk
