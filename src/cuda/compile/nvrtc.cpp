// NVRTC, NVIDIA's run-time compiler, opened at run time.
#include <mutex>

#include "cuda/compile/program.h"
#include "cuda/driver/library.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

using NvrtcProgram = void*;

struct Nvrtc {
  int (*create)(NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(NvrtcProgram*) = nullptr;
  int (*compile)(NvrtcProgram, int, const char* const*) = nullptr;
  int (*codeSize)(NvrtcProgram, size_t*) = nullptr;
  int (*code)(NvrtcProgram, char*) = nullptr;
  int (*logSize)(NvrtcProgram, size_t*) = nullptr;
  int (*log)(NvrtcProgram, char*) = nullptr;
  std::string reason;
};

Nvrtc open() {
  Nvrtc nvrtc;
  for (const char* const name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    Library library(name, name == std::string("libnvrtc.so.13") ? "cu13" : "cuda_nvrtc");
    if (!library.isOpen()) {
      nvrtc.reason = library.reason();
      continue;
    }
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(symbol));
    };
    find(nvrtc.create, "nvrtcCreateProgram");
    find(nvrtc.destroy, "nvrtcDestroyProgram");
    find(nvrtc.compile, "nvrtcCompileProgram");
    find(nvrtc.codeSize, "nvrtcGetCUBINSize");
    find(nvrtc.code, "nvrtcGetCUBIN");
    find(nvrtc.logSize, "nvrtcGetProgramLogSize");
    find(nvrtc.log, "nvrtcGetProgramLog");
    nvrtc.reason = library.reason();
    break;
  }
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const Nvrtc* const opened = new Nvrtc(open());
  if (!opened->reason.empty()) {
    throw EngineError(ErrorCode::kInputDevice,
                      "NVRTC, which compiles kernels for the GPU, is missing: " + opened->reason, {},
                      "install torch with CUDA, or set TORCHTRT_CUDA_LIBRARIES to a folder with libnvrtc.so.13");
  }
  return *opened;
}

}  // namespace

std::string compileByNvrtc(const std::string& text, const std::string& architecture) {
  const Nvrtc& api = nvrtc();
  NvrtcProgram program = nullptr;
  if (api.create(&program, text.c_str(), "torchtrt.cu", 0, nullptr, nullptr) != 0) {
    throw InternalError("NVRTC takes no program");
  }
  const std::string target = "--gpu-architecture=" + architecture;
  const char* const options[] = {target.c_str(), "--std=c++17"};
  const int result = api.compile(program, 2, options);
  std::string code;
  if (result == 0) {
    size_t size = 0;
    api.codeSize(program, &size);
    code.resize(size);
    api.code(program, code.data());
  } else {
    size_t size = 0;
    api.logSize(program, &size);
    code.resize(size);
    api.log(program, code.data());
  }
  api.destroy(&program);
  if (result != 0) {
    throw InternalError("NVRTC refuses device code for " + architecture + ": " + code);
  }
  return code;
}

}  // namespace torchtrt::cuda
