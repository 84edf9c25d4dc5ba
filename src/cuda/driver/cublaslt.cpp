#include "cuda/driver/cublaslt.h"

#include <string_view>
#include <utility>

#include "cuda/driver/library.h"
#include "cuda/driver/table.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

std::pair<CublasLt, std::string> open() {
  std::string reason;
  for (const auto& [name, package] :
       {std::pair("libcublasLt.so.13", "cu13"), std::pair("libcublasLt.so.12", "cublas")}) {
    Library library(name, package);
    if (!library.isOpen()) {
      reason = reason.empty() ? library.reason() : reason;
      continue;
    }
    CublasLt table;
#define TORCHTRT_FIND(member, symbol, ...) \
  table.member = reinterpret_cast<CublasLt::member##_type>(library.find(#symbol));
    TORCHTRT_CUBLASLT_FUNCTIONS(TORCHTRT_FIND)
#undef TORCHTRT_FIND
    return {table, library.reason()};
  }
  return {CublasLt(), reason};
}

OpenedTable<CublasLt>& table() {
  static auto* const table = new OpenedTable<CublasLt>;
  return *table;
}

}  // namespace

const CublasLt* findCublasLt(std::string& reason) {
  return table().find(open, reason);
}

void useCublasLt(const CublasLt& functions, const std::string& reason) {
  table().use(functions, reason);
}

void check(const CublasLt& api, lt::Status status, std::string_view purpose) {
  if (status == lt::kSuccess) {
    return;
  }
  const char* const text = api.statusText(status);
  const ErrorCode code = status == lt::kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kInputDevice;
  throw EngineError(code, std::string(purpose) + ": cuBLASLt says \"" + (text == nullptr ? "unknown error" : text) +
                              "\" (" + std::to_string(status) + ")");
}

}  // namespace torchtrt::cuda
