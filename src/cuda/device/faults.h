// Words of the host's memory to which kernels report faults in the data.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "cuda/driver/driver.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

// Kinds of faults. Zero is none.
enum class Fault : int { kNone = 0, kIndexOutOfRange = 1, kDivisionByZero = 2, kWindowsAddUpToNothing = 3 };

EngineError errorOf(Fault fault);

// Some words, as the host and as the device see them.
struct FaultBlock {
  int* host = nullptr;
  DevicePointer device = 0;
  size_t words = 0;
};

// Gives and takes back blocks. Work that runs late may write to a block that was given back, so that memory is never
// freed, and handed out again only after much other has been given back.
class FaultMemory {
 public:
  // All words are zero. Asks the driver in the current context.
  FaultBlock take(size_t words);
  void give(const FaultBlock& block);

 private:
  static constexpr size_t kUnit = 64;  // blocks have multiples of this
  static constexpr size_t kFewestIdle = size_t{256} << 10;

  std::optional<FaultBlock> reuse(size_t words);

  std::mutex mutex_;
  std::deque<FaultBlock> idle_;  // given back first comes first
  size_t idle_words_ = 0;
};

}  // namespace torchtrt::cuda
