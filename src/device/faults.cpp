#include "device/faults.h"

#include <utility>

namespace torchtrt::device {

namespace {

thread_local void* word_in_use = nullptr;

}  // namespace

FaultScope::FaultScope(void* word) : before_(std::exchange(word_in_use, word)) {}

FaultScope::~FaultScope() {
  word_in_use = before_;
}

void* FaultScope::current() {
  return word_in_use;
}

}  // namespace torchtrt::device
