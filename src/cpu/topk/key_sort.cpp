#include "cpu/topk/key_sort.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace torchtrt::kernels::topk {
namespace {

constexpr int kDigit = 8;  // bits
constexpr size_t kDigits = size_t{1} << kDigit;

size_t digitOf(uint64_t key, int pass) {
  return static_cast<size_t>(key >> (32 + kDigit * pass)) % kDigits;
}
size_t digitOf(const WideKey& key, int pass) {
  return static_cast<size_t>(key.value >> (kDigit * pass)) % kDigits;
}

// Sorts by the digits of the value, least significant first. Each pass keeps the order of those before, the first that
// of the positions.
template <typename Key>
void sortByDigits(ThreadVector<Key>& keys, ThreadVector<Key>& other, int passes) {
  std::array<std::array<uint32_t, kDigits>, sizeof(Key) / 2> counts{};
  for (const Key& key : keys) {
    for (int pass = 0; pass < passes; ++pass) {
      ++counts[static_cast<size_t>(pass)][digitOf(key, pass)];
    }
  }
  other.resize(keys.size());
  for (int pass = 0; pass < passes; ++pass) {
    std::array<uint32_t, kDigits>& count = counts[static_cast<size_t>(pass)];
    if (count[digitOf(keys[0], pass)] == keys.size()) {
      continue;  // all have the same digit
    }
    uint32_t place = 0;
    for (uint32_t& each : count) {
      place += each;
      each = place - each;
    }
    for (const Key& key : keys) {
      other[count[digitOf(key, pass)]++] = key;
    }
    keys.swap(other);
  }
}

}  // namespace

template <typename Key>
void sortKeys(ThreadVector<Key>& keys, ThreadVector<Key>& other, int64_t front, int bits) {
  constexpr int64_t kFew = 32;    // up to here a heap is faster than sorting all
  constexpr size_t kShort = 128;  // below it comparisons are faster than digits
  if (front <= kFew && static_cast<size_t>(front) < keys.size()) {
    std::partial_sort(keys.begin(), keys.begin() + front, keys.end());
  } else if (keys.size() < kShort) {
    std::sort(keys.begin(), keys.end());
  } else if (static_cast<size_t>(front) < keys.size() / 4) {
    std::nth_element(keys.begin(), keys.begin() + front, keys.end());
    std::sort(keys.begin(), keys.begin() + front);
  } else {
    sortByDigits(keys, other, (bits + kDigit - 1) / kDigit);
  }
}

template void sortKeys<uint64_t>(ThreadVector<uint64_t>& keys, ThreadVector<uint64_t>& other, int64_t front, int bits);
template void sortKeys<WideKey>(ThreadVector<WideKey>& keys, ThreadVector<WideKey>& other, int64_t front, int bits);

}  // namespace torchtrt::kernels::topk
