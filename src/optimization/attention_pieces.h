// Finds scaled dot product attention among layers: softmax(q k^T * scale + masks) v. fuse_attention.cpp makes a kernel
// of it.
#pragma once

#include <optional>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::optimization {

struct AttentionPieces {
  const network::Tensor* scores = nullptr;  // masked and scaled, before softmax
  network::Tensor *q = nullptr, *k = nullptr, *v = nullptr;
  std::vector<network::Tensor*> masks;  // in the order in which they are applied
  std::vector<Dims> mask_dims;          // that each has to have: what was masked may have been of another shape
  bool transpose_k = false;
  bool safe = false;
  double scale = 1;
};

// The pieces of attention whose last product is `layer`. Nothing if it is none that the kernel computes, or if another
// layer reads what would be gone.
std::optional<AttentionPieces> findAttention(const network::Layer& layer);

// True if float32, in which the kernel scales, loses nothing of it but the usual rounding.
bool isFloatScale(double scale);

}  // namespace torchtrt::optimization
