#include "torchtrt/load.h"

#include <caffe2/serialize/inline_container.h>

#include <filesystem>
#include <system_error>

#include <torch/script.h>

#include "runtime/device_info.h"
#include "runtime/module_file.h"
#include "torchtrt/error.h"

namespace torchtrt {
namespace {

constexpr const char* kAdvice = "copy the file again, or save the module again";

// `what` names the file.
[[noreturn]] void rethrow(const EngineError& error, const std::string& what) {
  throw EngineError(error.code(), "damaged module" + what + ": " + error.message(), {}, kAdvice);
}

}  // namespace

void checkModule(const std::string& path) {
  std::error_code problem;
  const auto bytes = static_cast<size_t>(std::filesystem::file_size(path, problem));
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    runtime::checkModuleFile(reader, problem ? 0 : bytes);
  } catch (const EngineError& error) {
    rethrow(error, " '" + path + "'");
  }
}

void checkModule(std::istream& stream) {
  const std::istream::pos_type begin = stream.tellg();
  stream.seekg(0, std::ios::end);
  const std::streamoff bytes = stream.tellg() - begin;
  stream.seekg(begin);
  try {
    caffe2::serialize::PyTorchStreamReader reader(&stream);
    runtime::checkModuleFile(reader, bytes < 0 ? 0 : static_cast<size_t>(bytes));
  } catch (const EngineError& error) {
    rethrow(error, "");
  }
  stream.clear();
  stream.seekg(begin);
}

torch::jit::Module load(const std::string& path, std::optional<c10::Device> device) {
  checkModule(path);
  const runtime::LoadingFor loading(device);
  return torch::jit::load(path, device);
}

torch::jit::Module load(std::istream& stream, std::optional<c10::Device> device) {
  checkModule(stream);
  const runtime::LoadingFor loading(device);
  return torch::jit::load(stream, device);
}

}  // namespace torchtrt
