// Several tensors indexed by one mask, whose places are looked for once.
#pragma once

#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

inline constexpr const char* kIndexByMask = "tensorrt::index_by_mask";
inline constexpr const char* kIndexByMaskSchema = "index_by_mask(Tensor[] tensors, Tensor mask) -> Tensor[]";

// Returns `tensor[mask]` of each tensor, as PyTorch computes it, with its errors. The mask is over the first dims.
TORCHTRT_API std::vector<at::Tensor> indexByMask(const std::vector<at::Tensor>& tensors, const at::Tensor& mask);

}  // namespace torchtrt::runtime
