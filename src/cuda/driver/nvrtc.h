// The functions of NVRTC, NVIDIA's run-time compiler, that this backend calls, as a table: tests put others in its
// place.
#pragma once

#include <cstddef>
#include <string>

namespace torchtrt::cuda {

namespace nvrtc {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 1;
inline constexpr Result kInvalidOption = 5;
inline constexpr Result kCompilation = 6;
using Program = void*;

}  // namespace nvrtc

#define TORCHTRT_NVRTC_FUNCTIONS(F)                                                                            \
  F(create, nvrtcCreateProgram,                                                                                \
    nvrtc::Result (*)(nvrtc::Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  F(destroy, nvrtcDestroyProgram, nvrtc::Result (*)(nvrtc::Program*))                                          \
  F(compile, nvrtcCompileProgram, nvrtc::Result (*)(nvrtc::Program, int, const char* const*))                  \
  F(codeSize, nvrtcGetCUBINSize, nvrtc::Result (*)(nvrtc::Program, size_t*))                                   \
  F(code, nvrtcGetCUBIN, nvrtc::Result (*)(nvrtc::Program, char*))                                             \
  F(logSize, nvrtcGetProgramLogSize, nvrtc::Result (*)(nvrtc::Program, size_t*))                               \
  F(log, nvrtcGetProgramLog, nvrtc::Result (*)(nvrtc::Program, char*))

struct Nvrtc {
#define TORCHTRT_DECLARE(member, symbol, ...) \
  using member##_type = __VA_ARGS__;          \
  member##_type member = nullptr;
  TORCHTRT_NVRTC_FUNCTIONS(TORCHTRT_DECLARE)
#undef TORCHTRT_DECLARE
};

// Opens it at the first call. Null, with the reason, where it is missing or too old.
const Nvrtc* findNvrtc(std::string& reason);
// Lets tests replace the table: calls go to this one from now on, or, with a reason, there is no such library.
void useNvrtc(const Nvrtc& table, const std::string& reason = "");

}  // namespace torchtrt::cuda
