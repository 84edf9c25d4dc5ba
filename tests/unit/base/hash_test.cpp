#include "base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace torchtrt {
namespace {

std::string hashOf(const std::string& bytes, uint64_t seed = 0) {
  return hashBytes(bytes.data(), bytes.size(), seed).toString();
}

// Hashes stand in stored plans: these may never change.
TEST(Hash, IsFixedForGood) {
  EXPECT_EQ(hashOf(""), "fff617a9e08fc22caeec599890429129");
  EXPECT_EQ(hashOf("torchtrt"), "0cb81a30bd821144216db5210c7a9fd8");
  EXPECT_EQ(hashOf(std::string(1000, 'x')), "8c8234142d3aae1db137c7ea3019e64f");
}

TEST(Hash, DiffersByLengthContentAndSeed) {
  std::set<std::string> hashes;
  for (size_t length = 0; length < 300; ++length) {
    EXPECT_TRUE(hashes.insert(hashOf(std::string(length, '\0'))).second) << length << " zeros";
  }
  EXPECT_NE(hashOf("a"), hashOf("a", 1));
}

// Every flipped input bit flips about half of the 128 output bits.
TEST(Hash, SpreadsEveryBit) {
  for (const size_t length : {1, 8, 63, 64, 65, 200}) {
    std::vector<unsigned char> data(length, 0);
    const Hash128 base = hashBytes(data.data(), data.size());
    for (size_t bit = 0; bit < length * 8; ++bit) {
      data[bit / 8] ^= static_cast<unsigned char>(1 << (bit % 8));
      const Hash128 flipped = hashBytes(data.data(), data.size());
      data[bit / 8] ^= static_cast<unsigned char>(1 << (bit % 8));
      const int changed = __builtin_popcountll(base.low ^ flipped.low) + __builtin_popcountll(base.high ^ flipped.high);
      EXPECT_GT(changed, 30) << "length " << length << " bit " << bit;
      EXPECT_LT(changed, 98) << "length " << length << " bit " << bit;
    }
  }
}

TEST(Hash, HasNoCollisionAmongManySimilarInputs) {
  std::set<std::pair<uint64_t, uint64_t>> hashes;
  std::vector<uint32_t> data(32, 0);
  for (uint32_t i = 0; i < 20000; ++i) {
    data[i % data.size()] += i + 1;
    const Hash128 hash = hashBytes(data.data(), data.size() * sizeof(uint32_t));
    hashes.insert({hash.low, hash.high});
  }
  EXPECT_EQ(hashes.size(), 20000u);
}

TEST(Hash, ReadsUnalignedData) {
  const std::string text = "0123456789" + std::string(100, 'y');
  const std::string shifted = "#" + text;
  EXPECT_EQ(hashBytes(shifted.data() + 1, text.size()), hashBytes(text.data(), text.size()));
}

}  // namespace
}  // namespace torchtrt
