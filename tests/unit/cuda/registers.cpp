#include "cuda/registers.h"

#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "cuda/compile/program.h"
#include "cuda/driver/library.h"
#include "cuda/driver/nvrtc.h"
#include "cuda/kept_files.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda::testing {

namespace {

const Nvrtc& nvrtcOrThrow() {
  std::string reason;
  const Nvrtc* const api = findNvrtc(reason);
  if (api == nullptr) {
    throw EngineError(ErrorCode::kInputDevice, "NVRTC is missing: " + reason);
  }
  return *api;
}

// A program of NVRTC. The product's reads neither the log of a success nor PTX.
class Program {
 public:
  using Result = nvrtc::Result;

  explicit Program(const std::string& text) : api_(nvrtcOrThrow()) {
    check(api_.create(&program_, text.c_str(), "torchtrt.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  }
  ~Program() {
    api_.destroy(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), kCompilerOptions, "--ptxas-options=--verbose"};
    if (const Result result = api_.compile(program_, std::size(options), options); result != nvrtc::kSuccess) {
      throw InternalError("NVRTC fails with code " + std::to_string(result) + " for " + architecture + ": " + log());
    }
  }
  std::string log() const {
    return read(api_.logSize, api_.log);
  }
  std::string read(Result (*sizeOf)(nvrtc::Program, size_t*), Result (*get)(nvrtc::Program, char*)) const {
    size_t size = 0;
    check(sizeOf(program_, &size), "the size of what NVRTC made");
    std::string text(size, '\0');
    check(get(program_, text.data()), "reading what NVRTC made");
    return text;
  }

 private:
  static void check(Result result, const char* purpose) {
    if (result != nvrtc::kSuccess) {
      throw InternalError(std::string(purpose) + ": NVRTC fails with code " + std::to_string(result));
    }
  }

  const Nvrtc& api_;
  nvrtc::Program program_ = nullptr;
};

// The number in front of `unit` in a line of the log, or nothing.
std::optional<int> numberBefore(const std::string& line, const std::string& unit) {
  const size_t end = line.find(" " + unit);
  size_t begin = end == std::string::npos ? 0 : end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) {
    --begin;
  }
  if (end == std::string::npos || begin == end) {
    return std::nullopt;
  }
  return std::stoi(line.substr(begin, end - begin));
}

}  // namespace

// A kernel's lines follow the one that names it. Those of functions that it calls stand among them unless the compiler
// inlines them:
//   ptxas info    : Compiling entry function 'map' for 'sm_90'
//   ptxas info    : Function properties for map
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 20 registers, used 1 barriers, 40 bytes cumulative stack size, 1024 bytes smem
std::vector<KernelNeeds> needsIn(const std::string& log) {
  static const std::string kEntry = "Compiling entry function '";
  std::vector<KernelNeeds> kernels;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (const size_t at = line.find(kEntry); at != std::string::npos) {
      const size_t begin = at + kEntry.size();
      kernels.push_back({.name = line.substr(begin, line.find('\'', begin) - begin)});
      continue;
    }
    if (kernels.empty()) {
      continue;
    }
    KernelNeeds& kernel = kernels.back();
    if (const std::optional<int> frame = numberBefore(line, "bytes stack frame")) {
      kernel.local += *frame;
      kernel.spill_stores += numberBefore(line, "bytes spill stores").value_or(0);
      kernel.spill_loads += numberBefore(line, "bytes spill loads").value_or(0);
    } else if (const std::optional<int> registers = numberBefore(line, "registers")) {
      kernel.registers = *registers;
      kernel.shared = numberBefore(line, "bytes smem").value_or(0);
    }
  }
  for (const KernelNeeds& kernel : kernels) {
    if (kernel.registers == 0) {
      throw InternalError("the log does not say what " + kernel.name + " needs: " + log);
    }
  }
  if (kernels.empty()) {
    throw InternalError("the log names no kernel: " + log);
  }
  return kernels;
}

std::vector<KernelNeeds> needsOf(const std::string& text, const std::string& architecture) {
  static const std::string release = nvrtcRelease();
  const std::string how = release + " " + architecture + " " + kCompilerOptions;
  const std::string file = keptFile("registers", how + "\n" + text, ".log");
  if (isKept(file)) {
    std::ifstream log(file);
    return needsIn({std::istreambuf_iterator<char>(log), {}});
  }
  Program program(text);
  program.compile(targetOf(text, architecture));
  const std::string log = program.log();
  std::vector<KernelNeeds> needs = needsIn(log);  // throws for a log that is not to be kept
  const std::string own = file + "." + std::to_string(getpid()) + "." + std::to_string(gettid());
  std::ofstream(own) << log;
  std::filesystem::rename(own, file);
  return needs;
}

// The first lines of PTX say it; nvrtcVersion() leaves out the last number.
std::string nvrtcRelease() {
  Program program("extern \"C\" __global__ void nothing() {}");
  program.compile("compute_80");
  Library library("libnvrtc.so.13", "cu13");
  Library older("libnvrtc.so.12", "cuda_nvrtc");
  Library& found = library.isOpen() ? library : older;
  const auto size = reinterpret_cast<Nvrtc::codeSize_type>(found.find("nvrtcGetPTXSize"));
  const auto get = reinterpret_cast<Nvrtc::code_type>(found.find("nvrtcGetPTX"));
  const std::string ptx = program.read(size, get);
  constexpr const char* kBefore = ", V";
  const size_t begin = ptx.find(kBefore, ptx.find("Cuda compilation tools, release"));
  if (begin == std::string::npos) {
    throw InternalError("PTX does not say by which release of NVRTC it was made: " + ptx.substr(0, 200));
  }
  const std::string release = ptx.substr(begin + std::string(kBefore).size());
  return release.substr(0, release.find_first_not_of("0123456789."));
}

}  // namespace torchtrt::cuda::testing
