#include "base/hash.h"

#include <array>
#include <bit>
#include <cstring>

namespace torchtrt {

namespace {

constexpr size_t kLanes = 8;
constexpr size_t kBlock = kLanes * sizeof(uint64_t);
// Odd constants: multiplying by one is a bijection of 64 bits, so a change in one word never gets lost in its lane.
constexpr std::array<uint64_t, kLanes> kFactors = {
    0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93,
    0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
};

uint64_t loadWord(const unsigned char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    word = __builtin_bswap64(word);
  }
  return word;
}

uint64_t mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  value ^= value >> 29;
  value *= 0x9e3779b97f4a7c15;
  return value ^ (value >> 32);
}

// Eight independent chains keep the multiplier busy: this runs at memory speed.
void absorb(std::array<uint64_t, kLanes>& lanes, const unsigned char* block) {
  for (size_t i = 0; i < kLanes; ++i) {
    lanes[i] = std::rotl(lanes[i] ^ loadWord(block + i * sizeof(uint64_t)), 29) * kFactors[i];
  }
}

}  // namespace

Hash128 hashBytes(const void* data, size_t bytes) {
  std::array<uint64_t, kLanes> lanes = kFactors;
  const auto* position = static_cast<const unsigned char*>(data);
  const size_t blocks = bytes / kBlock;
  for (size_t i = 0; i < blocks; ++i) {
    absorb(lanes, position + i * kBlock);
  }
  if (const size_t rest = bytes % kBlock; rest != 0) {
    std::array<unsigned char, kBlock> last{};
    std::memcpy(last.data(), position + blocks * kBlock, rest);
    absorb(lanes, last.data());
  }
  Hash128 hash{mix(bytes), mix(~static_cast<uint64_t>(bytes))};
  for (size_t i = 0; i < kLanes; ++i) {
    hash.low = mix(hash.low ^ lanes[i]);
    hash.high = mix(hash.high + std::rotl(lanes[kLanes - 1 - i], 32));
  }
  return hash;
}

std::string toHex(const Hash128& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(32);
  for (const uint64_t half : {hash.high, hash.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += kDigits[(half >> shift) & 15];
    }
  }
  return text;
}

std::string contentHash(const void* data, size_t bytes) { return toHex(hashBytes(data, bytes)); }

}  // namespace torchtrt
