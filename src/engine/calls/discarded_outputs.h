// Memory for outputs that nobody reads. Private to this folder.
#pragma once

#include <span>
#include <vector>

#include "device/device.h"
#include "plan/plan.h"
#include "torchtrt/engine.h"

namespace torchtrt::engine {

// Keeps the memory of one call for the next one, and gives all back when it goes.
class DiscardedOutputs final : public OutputAllocator {
 public:
  explicit DiscardedOutputs(const device::Device& device) : device_(device) {}
  void* allocate(int index, DType dtype, std::span<const int64_t> dims) override {
    const auto at = static_cast<size_t>(index);
    if (at >= memory_.size()) {
      memory_.resize(at + 1);
    }
    const size_t bytes = plan::checkedBytes(dims, dtype);
    if (memory_[at].bytes() < bytes) {
      memory_[at] = device_.allocate(bytes, "an output that nobody reads");
    }
    return memory_[at].data();
  }

 private:
  const device::Device& device_;
  std::vector<device::Memory> memory_;
};

}  // namespace torchtrt::engine
