// A target is a part of the code that reads what somebody else wrote: a function that takes any bytes. libFuzzer looks
// for bytes that break it (libfuzzer/entry.cpp); every test run repeats those that are kept (replay/corpus_test.cpp).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace torchtrt::fuzz {

struct Target {
  const char* name;
  // Returns true if the input was accepted, false if it was refused as it should be. Throws where neither is so.
  bool (*run)(std::string_view input);
  // Returns another input, made from one by its structure; "" where that is impossible. Null: bytes change alone.
  std::string (*changed)(std::string_view input, uint64_t seed) = nullptr;
  // Makes lengths and checksums right again after bytes have changed. Null: there are none.
  void (*mend)(std::string& input) = nullptr;
};

extern const Target arguments, base64, calibration, dims, engine, network, pickle, plan, saved_module, timings;

// Ends an input's run as a failure.
[[noreturn]] inline void fail(const std::string& problem) {
  throw std::logic_error(problem);
}

}  // namespace torchtrt::fuzz
