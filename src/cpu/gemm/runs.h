// Divides the depth of a matrix multiplication into parts that are summed separately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torchtrt::kernels::gemm {

// Returns the begin of each part. The longer a sum, the further it is from the exact one. Deep matmuls are therefore
// summed in equal parts if the depth has a divisor for it.
inline std::vector<int64_t> runsOf(int64_t depth) {
  constexpr int64_t kLongest = 512;
  constexpr int64_t kShortest = 64;  // below, adding the parts up takes time
  int64_t parts = (depth + kLongest - 1) / kLongest;
  while (depth % parts != 0 && depth / parts >= kShortest) {
    ++parts;
  }
  std::vector<int64_t> runs(static_cast<size_t>(depth % parts == 0 ? parts : 1));
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i] = static_cast<int64_t>(i) * (depth / static_cast<int64_t>(runs.size()));
  }
  return runs;
}

}  // namespace torchtrt::kernels::gemm
