// Prepares a loaded compiled module for a caller that cannot wait at its first call. A module fresh from compile() is
// prepared.
#pragma once

#include <cstdint>

#include "torchtrt/export.h"

namespace torch::jit {
struct Module;
}

namespace torchtrt::runtime {

// Has libtorch plan now how to run the module's methods that call engines and do nothing else: it would in their first
// two calls, for 0.4 ms each. Other methods libtorch plans by what their first call shows: what it watches that call
// with is made now for those that call engines, and what that needs once a process, tables of 3 MB that it takes 37 ms
// to make, is there from then on. Where the engines are small, such a method is called once with zeros, since fetching
// its code takes longer than the call. Changes no result. Returns how many methods are planned.
TORCHTRT_API int64_t prepare(const torch::jit::Module& module);

}  // namespace torchtrt::runtime
