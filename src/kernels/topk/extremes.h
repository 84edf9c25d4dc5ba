// The position of the greatest or smallest float32 of a row, and of each of many rows that lie side by side. NaN is
// greater than every number; of equal ones the first counts.
#pragma once

#include <cstdint>

namespace torchtrt::kernels::topk {

struct Extremes {
  int64_t (*ofRow)(const float* row, int64_t count);  // count > 0
  // Takes element `position` of every row: where it is beyond best[i], that and places[i] change.
  void (*update)(const float* elements, int32_t position, float* best, int32_t* places, int64_t rows);
};

// The variants for this machine.
const Extremes& extremes(bool largest);

}  // namespace torchtrt::kernels::topk
