#include "cuda/driver/cudnn.h"

#include <utility>

#include "cuda/driver/library.h"
#include "cuda/driver/table.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda {

namespace {

std::pair<Cudnn, std::string> open() {
  Library library("libcudnn.so.9", "cudnn");
  if (!library.isOpen()) {
    return {Cudnn(), library.reason()};
  }
  Cudnn table;
#define TORCHTRT_FIND(member, symbol, ...) table.member = reinterpret_cast<Cudnn::member##_type>(library.find(#symbol));
  TORCHTRT_CUDNN_FUNCTIONS(TORCHTRT_FIND)
#undef TORCHTRT_FIND
  return {table, library.reason()};
}

OpenedTable<Cudnn>& table() {
  static auto* const table = new OpenedTable<Cudnn>;
  return *table;
}

}  // namespace

const Cudnn* findCudnn(std::string& reason) {
  return table().find(open, reason);
}

void useCudnn(const Cudnn& functions, const std::string& reason) {
  table().use(functions, reason);
}

void check(const Cudnn& api, dnn::Status status, std::string_view purpose) {
  if (status == dnn::kSuccess) {
    return;
  }
  const char* const text = api.statusText(status);
  const bool has_no_memory = status == dnn::kNoHostMemory || status == dnn::kNoDeviceMemory;
  const ErrorCode code = has_no_memory ? ErrorCode::kOutOfMemory : ErrorCode::kInputDevice;
  throw EngineError(code, std::string(purpose) + ": cuDNN says \"" + (text == nullptr ? "unknown error" : text) +
                              "\" (" + std::to_string(status) + ")");
}

}  // namespace torchtrt::cuda
