// Kernels that read 16 bytes at once, whatever address an operand has.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kernel.h"

namespace torchtrt::cuda {

inline constexpr int64_t kChunkBytes = 16;

// `first`, but `other` for calls with an operand that does not begin at a multiple of kChunkBytes.
std::unique_ptr<kernels::Prepared> whereAligned(std::unique_ptr<kernels::Prepared> first,
                                                std::unique_ptr<kernels::Prepared> other, std::vector<bool> present);

}  // namespace torchtrt::cuda
