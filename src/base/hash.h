// A 128-bit hash of bytes: names constants in text and plans, so that equal data is stored once. Stable across machines
// and releases (it stands in plans). Not for secrets, and no defence against data made to collide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "torchtrt/export.h"

namespace torchtrt {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const Hash128&) const = default;
  TORCHTRT_API std::string toString() const;  // 32 hexadecimal digits
};

// Different seeds give unrelated hashes of the same bytes.
TORCHTRT_API Hash128 hashBytes(const void* data, size_t bytes, uint64_t seed = 0);

// Returns 32 hexadecimal digits.
inline std::string hashText(std::string_view text) {
  return hashBytes(text.data(), text.size()).toString();
}

}  // namespace torchtrt
