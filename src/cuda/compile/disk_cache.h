// Machine code on disk, so that the next process need not compile it.
#pragma once

#include <filesystem>
#include <string>

namespace torchtrt::cuda {

// $TORCHTRT_CUDA_CACHE, else a folder in the user's cache; empty if there is neither.
std::filesystem::path cacheFolder();

// The code of one key. Whoever may write into the folder may run code in this process: a folder that belongs to another
// user, or that others may write into, is not used. A folder that cannot be read or written costs a compilation.
class DiskCache {
 public:
  // No folder: nothing is kept.
  DiskCache(const std::filesystem::path& folder, const std::string& key);

  // Empty if there is none.
  std::string read() const;
  // Makes the folder, for the user alone, if there is none. Leaves the permissions of a folder as they are.
  void write(const std::string& code) const;

 private:
  std::filesystem::path file_;
};

}  // namespace torchtrt::cuda
