// Gives a target to libFuzzer: TORCHTRT_FUZZ_TARGET is its name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "fuzz/targets/target.h"

namespace {

const torchtrt::fuzz::Target& target = torchtrt::fuzz::TORCHTRT_FUZZ_TARGET;

// Returns false if the text does not fit.
bool put(const std::string& text, uint8_t* data, size_t most, size_t& size) {
  if (text.empty() || text.size() > most) {
    return false;
  }
  std::memcpy(data, text.data(), text.size());
  size = text.size();
  return true;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}

// Half of the changes are by structure, half of bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (target.changed != nullptr && random() % 2 == 0 && put(target.changed(input, random()), data, most, size)) {
    return size;
  }
  size = LLVMFuzzerMutate(data, size, most);
  if (target.mend != nullptr && random() % 16 != 0) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    target.mend(bytes);
    put(bytes, data, most, size);
  }
  return size;
}
