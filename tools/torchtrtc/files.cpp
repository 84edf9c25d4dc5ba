#include "files.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "file_kind.h"
#include "messages.h"
#include "torchtrt/error.h"

namespace torchtrtc {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

namespace {

// Of what errno says.
[[noreturn]] void throwUnwritable(const std::string& path) {
  throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + std::strerror(errno), {},
                     "name a file in a folder that exists and that you may write to");
}

}  // namespace

torch::jit::Module loadModule(const std::string& path, const std::string& expected) {
  if (!std::filesystem::is_regular_file(path)) {
    rejectFile(path, expected);
  }
  try {
    return torch::jit::load(path, at::kCPU);
  } catch (const std::exception& e) {
    if (kindOf(path) != FileKind::kTorchScript) {
      rejectFile(path, expected);
    }
    const std::string library = missingLibrary(e.what());
    if (!library.empty()) {
      throw CompileError(ErrorCode::kInvalidModule, "\"" + path + "\" needs " + library + ": " + reasonOf(e.what()), {},
                         "load it with --custom-torch-ops=FILE");
    }
    throw CompileError(ErrorCode::kInvalidModule,
                       "\"" + path + "\" is a TorchScript module that cannot be loaded: " + reasonOf(e.what()), {},
                       "copy it again, or save it again with the libtorch that loads it here");
  }
}

void openLibraries(const std::vector<std::string>& files, const std::string& option) {
  for (const std::string& file : files) {
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      throw CompileError(ErrorCode::kInvalidOption, option + ": cannot open \"" + file + "\": " + dlerror(), {},
                         "give the path of a shared library that is linked with the same libtorch");
    }
  }
}

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw CompileError(ErrorCode::kInvalidModule, "cannot read \"" + path + "\": " + std::strerror(errno));
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void checkTarget(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": it is a folder or a device", {},
                       "name a file, which is replaced as a whole");
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    throwUnwritable(path);
  }
}

void replaceFile(const std::string& path, const std::function<void(const Sink& sink)>& write) {
  const std::string temporary = path + ".part" + std::to_string(getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    throwUnwritable(path);
  }
  // libtorch's archive writer ends the process when it is told of a failure: that is kept until it is done.
  int problem = 0;
  const auto note = [&problem](bool is_good) { problem = is_good || problem != 0 ? problem : errno; };
  std::error_code ignored;
  try {
    write([&](const void* data, size_t bytes) {
      note(problem != 0 || std::fwrite(data, 1, bytes, file) == bytes);
      return bytes;
    });
  } catch (...) {
    std::fclose(file);
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  note(std::fclose(file) == 0);
  note(problem != 0 || std::rename(temporary.c_str(), path.c_str()) == 0);
  if (problem != 0) {
    std::filesystem::remove(temporary, ignored);
    throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + std::strerror(problem), {},
                       "see that the disk has room; what was there before is untouched");
  }
}

}  // namespace torchtrtc
