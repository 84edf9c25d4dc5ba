#include "cuda/driver/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/file_of_code.h"

namespace torchtrt::cuda {

namespace {

// The folder of the loaded libtorch; empty if it is not loaded.
std::filesystem::path folderOfTorch() {
  void* const torch = dlopen("libc10.so", RTLD_NOW | RTLD_NOLOAD);
  if (torch == nullptr) {
    return {};
  }
  // A data symbol that every libc10 has would do as well.
  const void* const symbol = dlsym(torch, "_ZN3c105ErrorD0Ev");
  dlclose(torch);
  return symbol == nullptr ? std::filesystem::path() : fileOfCode(symbol).parent_path();
}

// The folder of $TORCHTRT_CUDA_LIBRARIES, empty for none. A program that runs with more rights than its user takes
// none.
std::filesystem::path namedFolder() {
  const char* const folder = secure_getenv("TORCHTRT_CUDA_LIBRARIES");
  return folder == nullptr ? "" : folder;
}

std::vector<std::string> placesOf(const char* name, const char* package) {
  std::vector<std::string> places;
  if (const std::filesystem::path folder = namedFolder(); !folder.empty()) {
    places.push_back((folder / name).string());
  }
  places.emplace_back(name);
  if (const std::filesystem::path torch = folderOfTorch(); !torch.empty()) {
    places.push_back((torch.parent_path().parent_path() / "nvidia" / package / "lib" / name).string());
  }
  return places;
}

}  // namespace

Library::Library(const char* name, const char* package) {
  handle_ = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (handle_ != nullptr) {
    return;
  }
  if (const std::filesystem::path folder = namedFolder(); folder.is_relative() && !folder.empty()) {
    reason_ = "TORCHTRT_CUDA_LIBRARIES is \"" + folder.string() + "\", expected a path that begins with /";
    return;  // whoever may write to the working directory must not choose the library
  }
  for (const std::string& place : placesOf(name, package)) {
    handle_ = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle_ != nullptr) {
      reason_.clear();
      return;
    }
    const char* const error = dlerror();
    if (reason_.empty()) {
      reason_ = error == nullptr ? std::string(name) + " cannot be opened" : error;
    }
  }
}

void* Library::find(const char* function) {
  void* const found = handle_ == nullptr ? nullptr : dlsym(handle_, function);
  if (found == nullptr && reason_.empty()) {
    reason_ = std::string("it has no function ") + function;
  }
  return found;
}

}  // namespace torchtrt::cuda
