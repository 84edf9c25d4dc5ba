// Calls in real time run no kernel that may allocate memory, take a lock or call the system in a run, as libraries and
// users' plugins may. All other kernels do so in the first runs of a thread at most.
#pragma once

#include <string_view>

#include "kernels/kernel.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

// A kernel that may, or that runs another one.
class TORCHTRT_API MayAllocate {
 public:
  virtual ~MayAllocate() = default;
  virtual bool mayAllocate() const = 0;
};

inline bool mayAllocate(const Kernel& kernel) {
  const auto* const other = dynamic_cast<const MayAllocate*>(&kernel);
  return other != nullptr && other->mayAllocate();
}

// Chooses as createKernel() does, among kernels that may not. Where a rule leaves the problem to one that may, the most
// general of those that can compute it runs. Throws EngineError(kNotRealTime) where there is none.
TORCHTRT_API Chosen createRealTimeKernel(const Problem& problem, std::string_view hint = {});

}  // namespace torchtrt::kernels
