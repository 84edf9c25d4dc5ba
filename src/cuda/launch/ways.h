// Several ways to compute a layer by NVIDIA's libraries. Only the GPU shows which of them a library takes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

// Gives null where a library does not take it.
using Way = std::function<std::unique_ptr<Launches>()>;

// Returns the first that works; null, and logs a line, if none does. For a stand-in it goes every way, as any may be
// taken elsewhere, and gives null: what runs without the library is prepared, too.
std::unique_ptr<Launches> firstOf(const CudaDevice& device, const std::vector<Way>& ways, const char* if_none);

// The library's functions, or, for a stand-in, a table that no way calls. Null, and the refusal that says so, where the
// library is missing.
template <typename Table>
const Table* libraryFor(const kernels::Problem& problem, const Table* (*find)(std::string& reason), const char* name,
                        Refusal& missing) {
  static const Table kElsewhere{};
  const auto* const device = dynamic_cast<const CudaDevice*>(problem.device);  // null where somebody only asks
  if (device != nullptr && !device->isHere()) {
    return &kElsewhere;
  }
  std::string reason;
  const Table* const library = find(reason);
  if (library == nullptr) {
    missing = {"library", std::string(name) + " is missing: " + reason};
  }
  return library;
}

}  // namespace torchtrt::cuda
