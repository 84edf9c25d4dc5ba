// A deployment needs this of the runtime library. Including this header keeps the library from being dropped by
// --as-needed, and engines then load from saved modules. Errors at this border derive from c10::Error. Nothing here
// compiles.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"

// Null when the engine class and its operator are registered, else why not (another library holds the names).
extern "C" TORCHTRT_API const char* torchtrt_runtime_problem();

namespace torchtrt::runtime {

// The version that stands first in every serialized engine (document 004).
inline constexpr const char* kAbiVersion = "3";

// An EngineError as libtorch knows errors. A TorchScript `forward` hands on only the text: go by its code.
class TORCHTRT_API TorchEngineError : public c10::Error {
 public:
  TorchEngineError(ErrorCode code, std::string text) : c10::Error(std::move(text)), code_(code) {}
  ErrorCode code() const {
    return code_;
  }

 private:
  ErrorCode code_;
};

// Throws TorchEngineError (kPlanVersion) when the engine class could not be registered.
TORCHTRT_API void checkRegistered();

// Threads that a call from this thread may use: ATen's setting, the affinity mask and the cgroup's quota; 1 inside of a
// parallel region, and on the thread that came out of a fork (its OpenMP team stayed in the parent; engines that it
// calls run on a thread that stands in for it and has a team).
TORCHTRT_API int callThreads();

// The work of all engines of one name since the process began.
struct EngineCounters {
  std::string engine;
  uint64_t calls = 0;       // that the engine ran
  uint64_t fallbacks = 0;   // that PyTorch ran in its place, because it was not made for them
  uint64_t errors = 0;      // that ended in an error
  uint64_t new_shapes = 0;  // sets of shapes that it was prepared for during a call, which then takes longer
  double seconds = 0;       // of its calls; on a GPU until the work was handed over
};
// Returns those of all engines that were loaded, in the order of their names.
TORCHTRT_API std::vector<EngineCounters> counters();

namespace detail {
[[gnu::used]] static const char* (*const keep_runtime_library)() = &torchtrt_runtime_problem;
}

}  // namespace torchtrt::runtime
