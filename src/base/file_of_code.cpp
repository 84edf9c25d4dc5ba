#include "base/file_of_code.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace torchtrt {

std::filesystem::path fileOfCode(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {  // 7f00-7f10 r-xp 00000000 fe:00 4711    /lib/libsome.so
    std::istringstream fields(line);
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    std::string skipped;
    fields >> std::hex >> begin >> dash >> end;
    if (!fields || wanted < begin || wanted >= end) {
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      fields >> skipped;
    }
    std::string path;
    std::getline(fields >> std::ws, path);
    std::error_code ignored;
    const bool is_file = !path.empty() && path.front() == '/' && std::filesystem::exists(path, ignored);
    return is_file ? std::filesystem::path(path) : std::filesystem::path();
  }
  return {};
}

}  // namespace torchtrt
