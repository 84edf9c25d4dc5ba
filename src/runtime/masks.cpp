#include "runtime/masks.h"

namespace torchtrt::runtime {

namespace {

using Indices = c10::List<std::optional<at::Tensor>>;

// True if the tensor's first dims are those of the mask. PyTorch has an error for others.
bool fits(const at::Tensor& tensor, const at::Tensor& mask) {
  return mask.dim() > 0 && tensor.dim() >= mask.dim() &&
         tensor.sizes().slice(0, static_cast<size_t>(mask.dim())) == mask.sizes() && tensor.device() == mask.device();
}

}  // namespace

std::vector<at::Tensor> indexByMask(const std::vector<at::Tensor>& tensors, const at::Tensor& mask) {
  Indices places;
  std::vector<at::Tensor> results;
  results.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    if (mask.scalar_type() != at::kBool || !fits(tensor, mask)) {
      results.push_back(at::index(tensor, Indices({mask})));
      continue;
    }
    if (places.empty()) {
      for (const at::Tensor& of_dim : mask.nonzero_numpy()) {
        places.push_back(of_dim);
      }
    }
    results.push_back(at::index(tensor, places));
  }
  return results;
}

}  // namespace torchtrt::runtime
