#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> count = 0;
thread_local int64_t left = -1;

bool isRefused() {
  ++count;
  return left >= 0 && left-- == 0;
}

void* allocate(size_t bytes) {
  return isRefused() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(size_t bytes) {
  if (void* const memory = allocate(bytes)) {
    return memory;
  }
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<size_t>(alignment);
  if (void* const memory = isRefused() ? nullptr : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace torchtrt::testing {

int64_t allocations() {
  return count;
}

void refuseAllocation(int64_t before) {
  left = before;
}

int64_t allocationsBeforeRefusal() {
  return left;
}

}  // namespace torchtrt::testing
