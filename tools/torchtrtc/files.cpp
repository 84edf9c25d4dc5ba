#include "files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <system_error>

#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

// The line of libtorch's message that says what happened, without its back trace.
std::string firstLine(const std::string& message) {
  const size_t begin = message.find_first_not_of(" \n");
  return begin == std::string::npos ? message : message.substr(begin, message.find('\n', begin) - begin);
}

}  // namespace

std::string missingLibrary(const std::string& libtorch_message) {
  static const std::regex kOperator("Unknown builtin op: ([A-Za-z0-9_]+)::");
  static const std::regex kClass("torch\\.classes\\.([A-Za-z0-9_]+)\\.");
  std::smatch match;
  if (!std::regex_search(libtorch_message, match, kOperator) && !std::regex_search(libtorch_message, match, kClass)) {
    return {};
  }
  const std::string space = match[1];
  if (space == "tensorrt") {
    return "libtorchtrt_runtime.so";
  }
  if (space == "torchvision") {
    return "torchvision's _C.so (in Python: import torchvision)";
  }
  return "the library that registers torch.ops." + space;
}

torch::jit::Module loadModule(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) {
    throw CompileError(ErrorCode::kInvalidModule, "\"" + path + "\" is not a file", {}, "pass a file that torch.jit.save wrote");
  }
  try {
    return torch::jit::load(path, at::kCPU);
  } catch (const std::exception& e) {
    const std::string library = missingLibrary(e.what());
    if (!library.empty()) {
      throw CompileError(ErrorCode::kInvalidModule, "\"" + path + "\" needs " + library + ": " + firstLine(e.what()), {},
                         "load it with --custom-torch-ops=FILE");
    }
    throw CompileError(ErrorCode::kInvalidModule, "\"" + path + "\" is not a TorchScript module: " + firstLine(e.what()), {},
                       "save the module with torch.jit.save; a checkpoint of torch.save or an exported program is not one");
  }
}

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw CompileError(ErrorCode::kInvalidModule, "cannot read \"" + path + "\": " + std::strerror(errno));
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

void replaceFile(const std::string& path, const std::function<void(const std::string& temporary)>& write) {
  const std::string temporary = path + ".part" + std::to_string(getpid());
  std::error_code ignored;
  try {
    // libtorch's writer reports an unwritable file in many words; ask the system first.
    if (!std::ofstream(temporary, std::ios::binary)) {
      throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + std::strerror(errno), {},
                         "name a file in a folder that exists and that you may write to");
    }
    write(temporary);
    std::filesystem::rename(temporary, path);
  } catch (const torchtrt::Error&) {
    std::filesystem::remove(temporary, ignored);
    throw;
  } catch (const std::exception& e) {
    std::filesystem::remove(temporary, ignored);
    throw CompileError(ErrorCode::kOutput, "cannot write \"" + path + "\": " + firstLine(e.what()), {},
                       "see that the disk has room; what was there before is untouched");
  }
}

}  // namespace torchtrtc
