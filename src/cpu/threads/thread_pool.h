// The threads of parallelFor where OpenMP is off. Nothing else uses it: loops go through parallelFor.
#pragma once

#include <cstdint>
#include <functional>

namespace torchtrt::kernels {

// Calls task(i) once for every i below `count`, on the caller and on pool threads, and returns when all are done. Tasks
// must not throw. Safe from any number of threads and after a fork.
void runOnPool(int64_t count, const std::function<void(int64_t)>& task);

}  // namespace torchtrt::kernels
