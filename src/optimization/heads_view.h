// Finds the heads of an attention in the tensor that a linear layer gave: what transposes, reshapes and slices bring
// into matrices [..., S, D] often lies side by side in the channels of a tensor [B, S, C], where a kernel can read it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::optimization {

// Matrices [batch, heads, sequence, size], or without the first axes. Head h is channels [channel + h * size, ...) of
// `base`, seen as [batch, sequence, channels] or as [sequence, batch, channels].
struct HeadsView {
  network::Tensor* base = nullptr;
  Dim batch, sequence;
  int64_t heads = 1, size = 1, channel = 0, channels = 1;
  bool batch_first = false, sequence_first = false;  // both where batch or sequence is 1
  double scale = 1;                                  // by which the elements of base were multiplied

  Dims baseDims(bool sequence_comes_first) const {
    return sequence_comes_first ? Dims{sequence, batch, channels} : Dims{batch, sequence, channels};
  }
};

// The views of `tensor` (of rank 3 or 4) in tensors that it was made from, from the farthest to the nearest, which may
// be the tensor itself. `transposed`: its last two axes are the other way round.
std::vector<HeadsView> findHeads(network::Tensor& tensor, bool transposed);

// The number by which a layer multiplies its first operand; nothing for other layers.
std::optional<double> factorOf(const network::Layer& layer);

}  // namespace torchtrt::optimization
