#include "cuda/device/faults.h"

#include <algorithm>

#include "base/align.h"

namespace torchtrt::cuda {

namespace {

// While a stream of a caller is captured, most modes of capture forbid that memory is allocated meanwhile, which this
// does all the same: the memory takes no part in what is captured.
class AllowedDuringCapture {
 public:
  AllowedDuringCapture() {
    check(driver().exchangeCaptureMode(&mode_), kPurpose);
  }
  ~AllowedDuringCapture() {
    driver().exchangeCaptureMode(&mode_);
  }
  AllowedDuringCapture(const AllowedDuringCapture&) = delete;
  AllowedDuringCapture& operator=(const AllowedDuringCapture&) = delete;

 private:
  static constexpr const char* kPurpose = "leaving a stream's capture alone";
  int mode_ = kCaptureRelaxed;
};

}  // namespace

EngineError errorOf(Fault fault) {
  if (fault == Fault::kDivisionByZero) {
    return {ErrorCode::kDivisionByZero,
            "an integer was divided by zero in an earlier call of an engine on the GPU; its results are not valid",
            {},
            "integers have no infinity: divide floating tensors, or keep zeros out of the divisor"};
  }
  if (fault == Fault::kWindowsAddUpToNothing) {
    return {ErrorCode::kPlugin,
            "InverseShortTimeFourier: the squares of the windows add up to nothing somewhere in an earlier call of an "
            "engine on the GPU; its results are not valid",
            {},
            "nothing can be divided by that: take a window without zeros, or a smaller hop"};
  }
  return {ErrorCode::kIndexOutOfRange,
          "an index was out of range in an earlier call of an engine on the GPU; its results are not valid",
          {},
          "indices must lie in [0, size): check the data"};
}

FaultBlock FaultMemory::take(size_t words) {
  words = roundUp(std::max<size_t>(words, 1), kUnit);
  {
    const std::lock_guard lock(mutex_);
    if (const std::optional<FaultBlock> idle = reuse(words)) {
      std::fill_n(idle->host, words, 0);
      return *idle;
    }
  }
  constexpr const char* kPurpose = "memory for faults of kernels";
  const AllowedDuringCapture allowed;
  void* host = nullptr;
  check(driver().allocateHost(&host, words * sizeof(int), kHostAllocMapped), kPurpose);
  FaultBlock block{static_cast<int*>(host), 0, words};
  std::fill_n(block.host, words, 0);
  if (const Result result = driver().hostPointer(&block.device, host, 0); result != kSuccess) {
    driver().freeHost(host);
    check(result, kPurpose);
  }
  return block;
}

std::optional<FaultBlock> FaultMemory::reuse(size_t words) {
  if (idle_words_ < kFewestIdle) {
    return std::nullopt;
  }
  const auto found =
      std::find_if(idle_.begin(), idle_.end(), [&](const FaultBlock& block) { return block.words == words; });
  if (found == idle_.end()) {
    return std::nullopt;
  }
  const FaultBlock block = *found;
  idle_.erase(found);
  idle_words_ -= words;
  return block;
}

void FaultMemory::give(const FaultBlock& block) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(block);
  idle_words_ += block.words;
}

}  // namespace torchtrt::cuda
