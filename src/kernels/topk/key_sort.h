// Sorts 64-bit keys that hold a value in their upper half and its position in the lower.
#pragma once

#include <cstdint>
#include <vector>

namespace torchtrt::kernels::topk {

// keys[count] are in the order of positions. Afterwards the first `front` are the smallest, in order. `bits`: of the
// values that may differ, at most 32; `other` is memory to work with.
void sortKeys(std::vector<uint64_t>& keys, std::vector<uint64_t>& other, int64_t front, int bits);

}  // namespace torchtrt::kernels::topk
