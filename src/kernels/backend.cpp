#include "kernels/backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "base/check.h"
#include "base/file_of_code.h"
#include "torchtrt/error.h"
#include "torchtrt/version.h"

namespace torchtrt::kernels {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<const Backend*> backends;
};

Registry& registry() {
  static auto* const registry = new Registry;  // never destroyed: engines may outlive every static object
  return *registry;
}

const Backend* registered(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  const std::vector<const Backend*>& all = registry().backends;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Backend* each) { return each->name == name; });
  return found == all.end() ? nullptr : *found;
}

// The library lies beside the one that holds this code. Its name ends with the version, except in wheels, whose files
// have no links.
std::filesystem::path libraryOf(std::string_view name) {
  const std::filesystem::path self = fileOfCode(reinterpret_cast<const void*>(&findBackend));
  TORCHTRT_CHECK(!self.empty(), "the file of this code is gone");
  const std::string version = std::to_string(TORCHTRT_VERSION_MAJOR) + "." + std::to_string(TORCHTRT_VERSION_MINOR);
  const std::filesystem::path plain = self.parent_path() / ("libtorchtrt_" + std::string(name) + ".so");
  const std::filesystem::path versioned = plain.string() + "." + version;
  std::error_code ignored;
  const bool is_in_wheel = !std::filesystem::exists(versioned, ignored) && std::filesystem::exists(plain, ignored);
  return is_in_wheel ? plain : versioned;
}

bool isName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

[[noreturn]] void refuse(const std::string& problem, const std::string& advice) {
  throw EngineError(ErrorCode::kInputDevice, problem, {}, advice);
}

}  // namespace

BackendRegistration::BackendRegistration(const Backend& backend) {
  const std::lock_guard lock(registry().mutex);
  registry().backends.push_back(&backend);
}

const Backend* findBackend(std::string_view name, std::string& reason) {
  if (const Backend* const found = registered(name)) {
    return found;
  }
  if (!isName(name)) {
    reason = "\"" + std::string(name) + "\" names no kind of device";
    return nullptr;
  }
  const std::filesystem::path library = libraryOf(name);
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* const error = dlerror();
    reason = "this installation has no engines for " + std::string(name) + " (" +
             (error == nullptr ? library.string() : error) + ")";
    return nullptr;
  }
  const Backend* const found = registered(name);
  if (found == nullptr) {
    reason = library.string() + " is no backend of engines";
  }
  return found;
}

std::vector<std::string> missingParts(std::string_view name) {
  std::string reason;
  const Backend* const backend = findBackend(name, reason);
  if (backend == nullptr) {
    return {reason};
  }
  return backend->missing == nullptr ? std::vector<std::string>() : backend->missing();
}

const Backend& backendOf(const device::Device* device) {
  const std::string_view name = device == nullptr ? "cpu" : device->kind();
  const Backend* const found = registered(name);
  TORCHTRT_CHECK(found != nullptr, "there is no backend named " << name);
  return *found;
}

const device::Device& deviceNamed(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  int index = 0;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, index);
    if (error != std::errc() || stop != end || index < 0) {
      refuse("\"" + text + "\" is no device, expected for example \"cpu\" or \"cuda:0\"", "");
    }
  }
  std::string reason;
  const Backend* const backend = findBackend(kind, reason);
  if (backend == nullptr) {
    refuse("there is no device " + text + ": " + reason, "use the device \"cpu\"");
  }
  const int count = backend->devices(reason);
  if (index >= count) {
    refuse("there is no device " + text + ": " +
               (count == 0 ? reason : "the last one is " + kind + ":" + std::to_string(count - 1)),
           count == 0 ? "use the device \"cpu\"" : "");
  }
  return backend->device(index);
}

std::string nameOf(const device::Device& device) {
  const std::string kind = device.kind();
  return kind == "cpu" ? kind : kind + ":" + std::to_string(device.index());
}

}  // namespace torchtrt::kernels
