// Asks which tensors of a call lie in memory of their own. Methods ask it of the arguments that they write to: where
// two of them overlap, the order of reads and writes shows, and PyTorch runs the call.
#pragma once

#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

inline constexpr const char* kLieApart = "tensorrt::lie_apart";
inline constexpr const char* kLieApartSchema = "lie_apart(Tensor[] written, Tensor[] others) -> bool";

// True if every written tensor has one place in memory for each element, and lies apart from the other written ones and
// from all others. Views between whose elements others lie count as overlapping.
TORCHTRT_API bool lieApart(const std::vector<at::Tensor>& written, const std::vector<at::Tensor>& others);

}  // namespace torchtrt::runtime
