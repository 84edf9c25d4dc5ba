// Constant data.
#include <cstdlib>
#include <cstring>

#include "base/align.h"
#include "base/check.h"
#include "torchtrt/network.h"

namespace torchtrt::network {
size_t Weights::count() const {
  size_t count = 1;
  for (const int64_t dim : dims) {
    count *= static_cast<size_t>(dim);
  }
  return count;
}

size_t Weights::bytes() const {
  return count() * sizeOf(dtype);
}

Weights Weights::allocate(DType dtype, std::vector<int64_t> dims, void** writable) {
  for (const int64_t dim : dims) {
    TORCHTRT_CHECK(dim >= 0, "weights of dims " << Dims::of(dims).toString());
  }
  Weights weights{dtype, std::move(dims), nullptr};
  const size_t bytes = weights.bytes();
  void* memory = nullptr;
  if (bytes > 0) {
    memory = std::aligned_alloc(kAlignment, alignUp(bytes));
    if (memory == nullptr) {
      throw EngineError(ErrorCode::kOutOfMemory, "no memory for a constant of " + std::to_string(bytes) + " bytes");
    }
    weights.data = std::shared_ptr<const void>(memory, [](const void* data) { std::free(const_cast<void*>(data)); });
  }
  *writable = memory;
  return weights;
}

Weights Weights::copyOf(DType dtype, std::vector<int64_t> dims, const void* data) {
  void* writable = nullptr;
  Weights weights = allocate(dtype, std::move(dims), &writable);
  if (writable != nullptr) {
    std::memcpy(writable, data, weights.bytes());
  }
  return weights;
}

}  // namespace torchtrt::network
