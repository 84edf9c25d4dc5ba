// NVIDIA's libraries, opened at run time: nothing of torchtrt links them.
#pragma once

#include <string>
#include <vector>

namespace torchtrt::cuda {

// A library that stays open. Looks where it is loaded already, in $TORCHTRT_CUDA_LIBRARIES (a folder, as a path from
// the root), on the loader's path, and in the packages beside libtorch.
class Library {
 public:
  // `name` as the loader asks for it ("libnvrtc.so.13"), `package` the folder of the package that brings it ("cu13").
  Library(const char* name, const char* package);

  bool isOpen() const {
    return handle_ != nullptr;
  }
  // Empty if it is open.
  const std::string& reason() const {
    return reason_;
  }
  // Null if there is no such function; then it is noted as the reason.
  void* find(const char* function);

 private:
  void* handle_ = nullptr;
  std::string reason_;
};

}  // namespace torchtrt::cuda
