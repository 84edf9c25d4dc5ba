// The version of torchtrt, for the preprocessor and at run time.
// Not the version of the plan format: that one is in src/plan/ and changes on its own.
#pragma once

// The build reads the three numbers from here; there is no second place.
#define TORCHTRT_VERSION_MAJOR 0
#define TORCHTRT_VERSION_MINOR 1
#define TORCHTRT_VERSION_PATCH 0

#define TORCHTRT_VERSION_STRING "0.1.0"

namespace torchtrt {

inline constexpr const char* kVersion = TORCHTRT_VERSION_STRING;

}  // namespace torchtrt
