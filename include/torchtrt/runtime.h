// A deployment needs this of the runtime library. Including this header keeps the library from being dropped by
// --as-needed, and engines then load from saved modules. Errors at this border derive from c10::Error. Nothing here
// compiles.
#pragma once

#include <string>
#include <utility>

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

namespace detail {
[[gnu::used]] static const char* (*const keep_runtime_library)() = &torchtrt_runtime_problem;
}

}  // namespace torchtrt::runtime
