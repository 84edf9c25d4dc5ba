// Content hash of raw bytes: 128 bits, the same on every machine. It names weights and detects damage to plans; it is no
// protection against an attacker, so equal hashes are compared byte by byte before anything is merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Hash128&) const = default;
};

TORCHTRT_API Hash128 hashBytes(const void* data, size_t bytes);
TORCHTRT_API std::string toHex(const Hash128& hash);                       // 32 lower-case digits
TORCHTRT_API std::string contentHash(const void* data, size_t bytes);      // toHex(hashBytes(...))

}  // namespace torchtrt
