// Makes the checksum of damaged plan bytes right again, as an attacker would.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "base/hash.h"

namespace torchtrt::testing {

inline constexpr size_t kPlanHeader = 64;  // see src/plan/format.h

// Bytes whose header says more than there is stay as they are.
inline void mendChecksum(std::string& bytes) {
  uint64_t graph = 0;
  if (bytes.size() < kPlanHeader) {
    return;
  }
  std::memcpy(&graph, bytes.data() + 16, sizeof graph);
  if (graph > bytes.size() - kPlanHeader) {
    return;
  }
  std::memset(bytes.data() + 32, 0, 16);
  const Hash128 hash = hashBytes(bytes.data(), kPlanHeader + graph);
  std::memcpy(bytes.data() + 32, &hash.low, 8);
  std::memcpy(bytes.data() + 40, &hash.high, 8);
}

}  // namespace torchtrt::testing
