// Four accumulators over 64-byte blocks, mixed with 64x64->128-bit multiplications (the idea of wyhash and XXH3;
// constants and layout are ours). Reads are little-endian on every machine.
#include "base/hash.h"

#include <bit>
#include <cstring>

namespace torchtrt {
namespace {

constexpr size_t kBlock = 64;
constexpr char kDigits[] = "0123456789abcdef";
// Odd numbers with about as many ones as zeros: the fractional parts of the square roots of 2, 3, 5, 7.
constexpr std::array<uint64_t, 4> kKeys = {0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                           0xa54ff53a5f1d36f1};

uint64_t read64(const unsigned char* from) {
  uint64_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
}

// Both halves of the product, folded: every input bit reaches every output bit.
uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t finish(uint64_t x) {
  x = (x ^ (x >> 32)) * kKeys[1];
  x = (x ^ (x >> 29)) * kKeys[0];
  return x ^ (x >> 32);
}

using Lanes = std::array<uint64_t, 4>;

void absorb(Lanes& lanes, const unsigned char* block) {
  for (size_t i = 0; i < lanes.size(); ++i) {
    const uint64_t first = read64(block + 16 * i);
    const uint64_t second = read64(block + 16 * i + 8);
    // Adding the data once more keeps a zero factor from wiping the lane.
    lanes[i] = std::rotl(lanes[i], 29) + mix(first ^ kKeys[i], second ^ lanes[i]) + first + std::rotl(second, 17);
  }
}

}  // namespace

std::string Hash128::toString() const {
  std::string text;
  for (const uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += kDigits[(half >> shift) & 15];
    }
  }
  return text;
}

Hash128 hashBytes(const void* data, size_t bytes, uint64_t seed) {
  const auto* at = static_cast<const unsigned char*>(data);
  Lanes lanes;
  for (size_t i = 0; i < lanes.size(); ++i) {
    lanes[i] = finish(seed + kKeys[i]) ^ bytes;
  }
  size_t left = bytes;
  for (; left >= kBlock; left -= kBlock, at += kBlock) {
    absorb(lanes, at);
  }
  if (left > 0) {
    std::array<unsigned char, kBlock> last{};  // zero-filled: the length is already in the lanes
    std::memcpy(last.data(), at, left);
    absorb(lanes, last.data());
  }
  const uint64_t a = mix(lanes[0] ^ kKeys[2], lanes[1] ^ kKeys[3]) + lanes[2];
  const uint64_t b = mix(lanes[2] ^ kKeys[0], lanes[3] ^ kKeys[1]) + lanes[0];
  const uint64_t c = lanes[1] ^ std::rotl(lanes[3], 23);
  return {finish(a ^ c), finish(b + std::rotl(c, 41))};
}

}  // namespace torchtrt
