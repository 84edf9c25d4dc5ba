// The row-major convolutions with few outputs share this: planes.cpp writes the result, planes_pooled.cpp its maxima.
// Private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/convolution/geometry.h"
#include "cpu/convolution/planes/planes_row.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMaxPlaneLines = 256;  // pointers to lines are on the stack

struct PackedPlanes {
  Geometry geometry;
  int64_t lanes = 0;
  int64_t lines = 0;           // per output row: channels x depth taps x height taps
  int64_t reach = 0;           // columns of a phase that the last tap reads beyond the first's
  std::vector<float> weights;  // [line][width tap][outputs]
  gemm::Epilogue epilogue;
  void (*row)(const PlanesRow&) = nullptr;
};

// True if lines must be copied: padding, a stride along the width, or rows of the output shorter than a vector.
bool needsCopies(const PackedPlanes& packed, int64_t columns);

// PoolsOutput::preparePooled (kernels/fusion.h).
Fused preparePooledPlanes(std::shared_ptr<const PackedPlanes> packed, const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
