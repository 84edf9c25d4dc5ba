// The frame around a plan's FlatBuffer, in the byte order of the machines we run on (little endian):
//   64-byte header | FlatBuffer | zeros up to a multiple of 64 | weights, each at a multiple of 64
// Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/align.h"
#include "base/hash.h"
#include "torchtrt/error.h"

namespace torchtrt::plan {

inline constexpr char kMagic[8] = {'T', 'T', 'R', 'T', 'P', 'L', 'A', 'N'};
inline constexpr uint32_t kWeightsOutside = 1;

struct Header {
  char magic[8];
  uint16_t major_version;
  uint16_t minor_version;
  uint32_t flags;
  uint64_t graph_bytes;
  uint64_t weight_bytes;
  uint64_t hash_low;  // of header and FlatBuffer, these two fields being zero
  uint64_t hash_high;
  uint8_t reserved[16];
};
static_assert(sizeof(Header) == kAlignment);

[[noreturn]] void throwCorrupt(const std::string& what);

}  // namespace torchtrt::plan
