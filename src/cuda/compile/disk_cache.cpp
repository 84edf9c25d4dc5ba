#include "cuda/compile/disk_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/hash.h"
#include "base/safe_file.h"

namespace torchtrt::cuda {

namespace {

bool isOwn(const std::filesystem::path& folder) {
  struct stat found {};
  return stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Makes the folder, and those above it as any program would.
void make(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  mkdir(folder.c_str(), S_IRWXU);  // does nothing to a folder that is there
}

}  // namespace

std::filesystem::path cacheFolder() {
  if (const char* const folder = std::getenv("TORCHTRT_CUDA_CACHE")) {
    return folder;
  }
  if (const char* const cache = std::getenv("XDG_CACHE_HOME")) {
    return std::filesystem::path(cache) / "torchtrt" / "cuda";
  }
  const char* const home = std::getenv("HOME");
  return home == nullptr ? std::filesystem::path() : std::filesystem::path(home) / ".cache" / "torchtrt" / "cuda";
}

DiskCache::DiskCache(const std::filesystem::path& folder, const std::string& key) {
  if (!folder.empty()) {
    file_ = folder / (hashText(key) + ".cubin");
  }
}

std::string DiskCache::read() const {
  if (file_.empty() || !isOwn(file_.parent_path())) {
    return "";
  }
  std::ifstream stream(file_, std::ios::binary);
  return stream ? std::string(std::istreambuf_iterator<char>(stream), {}) : "";
}

void DiskCache::write(const std::string& code) const {
  if (file_.empty()) {
    return;
  }
  make(file_.parent_path());
  if (!isOwn(file_.parent_path())) {
    return;
  }
  replaceFile(file_.string(), code);  // an error costs the next process a compilation
}

}  // namespace torchtrt::cuda
