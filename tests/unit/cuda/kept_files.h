// Compiled device code that tests keep from run to run, because a compile of all of it takes minutes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/hash.h"

namespace torchtrt::cuda::testing {

// Returns the path for what is made of `source`, which is all that it depends on. The folder is in TORCHTRT_TEST_CACHE,
// which `./dev test` sets for all clones, else beside the program's in the build tree. Two processes may make a file at
// once: write another and rename it.
inline std::string keptFile(const char* folder, const std::string& source, const char* suffix) {
  const char* const cache = std::getenv("TORCHTRT_TEST_CACHE");
  const bool is_named = cache != nullptr && *cache != '\0';
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::filesystem::path place = (is_named ? std::filesystem::path(cache) : own) / folder;
  std::filesystem::create_directories(place);
  return (place / hashBytes(source.data(), source.size()).toString()).string() + suffix;
}

// True if the file is there. Marks it as used, because `./dev test` removes those that no run has used for days.
inline bool isKept(const std::string& file) {
  std::error_code error;
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now(), error);
  return !error;
}

}  // namespace torchtrt::cuda::testing
