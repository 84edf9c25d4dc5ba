#include "runtime/host_copies.h"

#include <algorithm>

namespace torchtrt::runtime {

at::Tensor HostCopies::of(const at::Tensor& tensor) {
  const bool has_data = tensor.defined() && tensor.layout() == at::kStrided && tensor.has_storage();
  if (!has_data || tensor.is_cpu() || tensor.is_meta()) {
    return tensor;
  }
  Copy& copy = copies_[tensor.storage().unsafeGetStorageImpl()];
  if (!copy.bytes.defined()) {
    const auto options = at::TensorOptions().dtype(at::kByte).device(tensor.device());
    const auto size = static_cast<int64_t>(tensor.storage().nbytes());
    copy.bytes = at::empty({0}, options).set_(tensor.storage(), 0, {size}, {1}).to(at::kCPU);
    copy.original = tensor.storage();
  }
  return at::empty({0}, tensor.scalar_type())
      .set_(copy.bytes.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
}

bool HostCopies::hold(const at::Tensor& tensor) const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [&](const auto& entry) { return entry.second.bytes.is_alias_of(tensor); });
}

}  // namespace torchtrt::runtime
