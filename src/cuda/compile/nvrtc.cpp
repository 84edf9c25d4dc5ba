#include "cuda/driver/nvrtc.h"

#include "cuda/compile/program.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

const Nvrtc& api() {
  std::string reason;
  const Nvrtc* const found = findNvrtc(reason);
  if (found == nullptr) {
    throw EngineError(ErrorCode::kInputDevice, "NVRTC, which compiles kernels for the GPU, is missing: " + reason, {},
                      "install torch with CUDA, or set TORCHTRT_CUDA_LIBRARIES to a folder with libnvrtc.so.13");
  }
  return *found;
}

void check(nvrtc::Result result, const char* purpose) {
  if (result != nvrtc::kSuccess) {
    throw EngineError(result == nvrtc::kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kInputDevice,
                      std::string(purpose) + ": NVRTC fails with code " + std::to_string(result));
  }
}

class Program {
 public:
  Program(const Nvrtc& api, const std::string& text) : api_(api) {
    check(api_.create(&program_, text.c_str(), "torchtrt.cu", 0, nullptr, nullptr), "giving device code to NVRTC");
  }
  ~Program() {
    api_.destroy(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), kCompilerOptions};
    const nvrtc::Result result = api_.compile(program_, 2, options);
    if (result == nvrtc::kInvalidOption) {
      throw EngineError(ErrorCode::kInputDevice,
                        "NVRTC compiles nothing for the architecture " + architecture + ": " + log(), {},
                        "set TORCHTRT_CUDA_LIBRARIES to a folder with a libnvrtc that knows this GPU");
    }
    if (result == nvrtc::kCompilation) {
      throw InternalError("NVRTC refuses device code for " + architecture + ": " + log());
    }
    check(result, "compiling device code");
  }
  std::string code() const {
    return read(api_.codeSize, api_.code);
  }

 private:
  std::string log() const {
    std::string text = read(api_.logSize, api_.log);
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) {
      text.pop_back();
    }
    return text;
  }
  std::string read(Nvrtc::codeSize_type sizeOf, Nvrtc::code_type get) const {
    size_t size = 0;
    check(sizeOf(program_, &size), "reading what was compiled");
    std::string text(size, '\0');
    check(get(program_, text.data()), "reading what was compiled");
    return text;
  }

  const Nvrtc& api_;
  nvrtc::Program program_ = nullptr;
};

}  // namespace

std::string compileByNvrtc(const std::string& text, const std::string& architecture) {
  Program program(api(), text);
  program.compile(targetOf(text, architecture));
  return program.code();
}

}  // namespace torchtrt::cuda
