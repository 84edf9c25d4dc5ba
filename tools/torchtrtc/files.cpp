#include "files.h"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "file_kind.h"
#include "messages.h"
#include "runtime/torch_device.h"
#include "torchtrt/error.h"
#include "torchtrt/load.h"

namespace torchtrtc {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

namespace {

[[noreturn]] void throwUnwritable(const std::string& path, const std::error_code& problem) {
  throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + problem.message(), {},
                     "name a file in a folder that exists and that you may write to");
}

// Throws an error about an option again that was found while the file was loaded: the file is not to blame.
void rethrowOptionError(const std::string& reason) {
  const std::string mark = "[C003] ";
  if (reason.rfind(mark, 0) == 0) {
    const size_t end = std::min(reason.find("\n  "), reason.size());
    const std::string advice = end == reason.size() ? "" : reason.substr(end + 3);
    throw CompileError(ErrorCode::kInvalidOption, reason.substr(mark.size(), end - mark.size()), {}, advice);
  }
}

}  // namespace

at::Device deviceNamed(const std::string& text) {
  constexpr const char* kAdvice = "use \"cpu\" or \"cuda:0\"";
  try {
    const at::Device device = torchtrt::runtime::withIndex(at::Device(text));
    torchtrt::runtime::needDevice(device);
    return device;
  } catch (const torchtrt::EngineError& error) {
    throw CompileError(ErrorCode::kInvalidOption, error.message(), {}, kAdvice);
  } catch (const c10::Error&) {
    throw CompileError(ErrorCode::kInvalidOption, "\"" + text + "\" is no device", {}, kAdvice);
  }
}

torch::jit::Module loadModule(const std::string& path, const std::string& expected, const std::string& device) {
  if (!std::filesystem::is_regular_file(path)) {
    rejectFile(path, expected);
  }
  const std::optional<at::Device> where = device.empty() ? std::nullopt : std::optional(deviceNamed(device));
  try {
    return torchtrt::load(path, where);
  } catch (const std::exception& e) {
    if (kindOf(path) != FileKind::kTorchScript) {
      rejectFile(path, expected);
    }
    rethrowOptionError(reasonOf(e.what()));
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
  const std::error_code problem = torchtrt::checkReplaceable(path);
  if (problem == std::errc::is_a_directory || problem == std::errc::invalid_argument) {
    throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": it is a folder or a device", {},
                       "name a file, which is replaced as a whole");
  }
  if (problem) {
    throwUnwritable(path, problem);
  }
}

void replaceFile(const std::string& path, const std::function<void(const torchtrt::FileSink& sink)>& write) {
  const std::error_code problem = torchtrt::replaceFile(path, write);
  if (problem == std::errc::no_space_on_device || problem == std::errc::file_too_large) {
    throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + problem.message(), {},
                       "see that the disk has room; what was there before is untouched");
  }
  if (problem) {
    throwUnwritable(path, problem);
  }
}

void replaceFile(const std::string& path, std::string_view content) {
  replaceFile(path, [content](const torchtrt::FileSink& sink) { sink(content.data(), content.size()); });
}

}  // namespace torchtrtc
