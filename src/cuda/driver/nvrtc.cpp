#include "cuda/driver/nvrtc.h"

#include <utility>

#include "cuda/driver/library.h"
#include "cuda/driver/table.h"

namespace torchtrt::cuda {

namespace {

std::pair<Nvrtc, std::string> open() {
  std::string reason;
  for (const auto& [name, package] : {std::pair("libnvrtc.so.13", "cu13"), std::pair("libnvrtc.so.12", "cuda_nvrtc")}) {
    Library library(name, package);
    if (!library.isOpen()) {
      reason = reason.empty() ? library.reason() : reason;
      continue;
    }
    Nvrtc table;
#define TORCHTRT_FIND(member, symbol, ...) table.member = reinterpret_cast<Nvrtc::member##_type>(library.find(#symbol));
    TORCHTRT_NVRTC_FUNCTIONS(TORCHTRT_FIND)
#undef TORCHTRT_FIND
    return {table, library.reason()};
  }
  return {Nvrtc(), reason};
}

OpenedTable<Nvrtc>& table() {
  static auto* const table = new OpenedTable<Nvrtc>;
  return *table;
}

}  // namespace

const Nvrtc* findNvrtc(std::string& reason) {
  return table().find(open, reason);
}

void useNvrtc(const Nvrtc& functions, const std::string& reason) {
  table().use(functions, reason);
}

}  // namespace torchtrt::cuda
