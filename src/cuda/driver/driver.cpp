#include "cuda/driver/driver.h"

#include <atomic>
#include <mutex>

#include "base/check.h"
#include "cuda/driver/library.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

constexpr int kOldestDriver = 12000;  // CUDA 12.0: its stream-ordered allocator and these entry points

struct Opened {
  Driver table;
  std::string reason;
  Opened* before = nullptr;  // it may be in use, and a checker of leaks finds it here
};

// Never destroyed: memory may be given back after every static object is gone.
Opened*& current() {
  static Opened* opened = nullptr;
  return opened;
}

// The table of `current()`, where there is a driver: calls read it without a lock.
std::atomic<const Driver*> in_use = nullptr;

std::mutex& guard() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// The driver's own words for a result.
std::string wordsFor(const Driver& table, Result result) {
  const char* text = nullptr;
  const bool is_known = table.errorString(result, &text) == kSuccess && text != nullptr;
  return is_known ? text : "unknown error";
}

}  // namespace

std::string openDriver(Driver& table) {
  Library library("libcuda.so.1", "cu13");
  if (!library.isOpen()) {
    return "there is no NVIDIA driver (" + library.reason() + ")";
  }
#define TORCHTRT_FIND(member, symbol, ...) \
  table.member = reinterpret_cast<Driver::member##_type>(library.find(#symbol));
  TORCHTRT_CUDA_DRIVER_FUNCTIONS(TORCHTRT_FIND)
  if (!library.reason().empty()) {
    return "the NVIDIA driver is too old: " + library.reason();
  }
  TORCHTRT_CUDA_GRAPH_FUNCTIONS(TORCHTRT_FIND)
#undef TORCHTRT_FIND
  return startDriver(table);
}

std::string startDriver(const Driver& table) {
  if (const Result result = table.init(0); result != kSuccess) {
    return "the NVIDIA driver does not start: " + wordsFor(table, result);
  }
  int version = 0;
  if (const Result result = table.driverVersion(&version); result != kSuccess) {
    return "the NVIDIA driver does not tell its version: " + wordsFor(table, result);
  }
  if (version < kOldestDriver) {
    return "the NVIDIA driver is too old: it supports CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10) + ", expected 12.0 or newer";
  }
  return "";
}

const Driver* findDriver(std::string& reason) {
  const std::lock_guard lock(guard());
  if (current() == nullptr) {
    current() = new Opened;
    current()->reason = openDriver(current()->table);
  }
  reason = current()->reason;
  const Driver* const found = reason.empty() ? &current()->table : nullptr;
  in_use.store(found, std::memory_order_release);
  return found;
}

const Driver& driver() {
  if (const Driver* const known = in_use.load(std::memory_order_acquire)) {
    return *known;
  }
  std::string reason;
  const Driver* const found = findDriver(reason);
  TORCHTRT_CHECK(found != nullptr, "a device without a driver: " << reason);
  return *found;
}

void useDriver(const Driver& table, const std::string& reason) {
  const std::lock_guard lock(guard());
  current() = new Opened{table, reason, current()};
  in_use.store(reason.empty() ? &current()->table : nullptr, std::memory_order_release);
}

bool Driver::hasGraphs() const {
#define TORCHTRT_HAS(member, symbol, ...) &&member != nullptr
  return true TORCHTRT_CUDA_GRAPH_FUNCTIONS(TORCHTRT_HAS);
#undef TORCHTRT_HAS
}

void check(Result result, std::string_view purpose) {
  if (result == kSuccess) {
    return;
  }
  const ErrorCode code = result == kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kInputDevice;
  throw EngineError(code, std::string(purpose) + ": the CUDA driver says \"" + wordsFor(driver(), result) + "\" (" +
                              std::to_string(result) + ")");
}

}  // namespace torchtrt::cuda
