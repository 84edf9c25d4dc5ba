// The operators on regions share these checks. Their arithmetic is the engine's, src/cpu/regions.
#pragma once

#include <ATen/ATen.h>

#include "cpu/regions/bilinear.h"

namespace torchtrt::vision {

/// Refuses what no operator on regions takes, an image index outside of the batch among it (torchvision reads there).
void checkRegions(const char* op, const at::Tensor& input, const at::Tensor& rois, int64_t pooled_height,
                  int64_t pooled_width);

/// The channels per cell of the position-sensitive operators; refuses a number of channels that cells cannot share.
int64_t channelsPerCell(const char* op, const at::Tensor& input, int64_t pooled_height, int64_t pooled_width);

/// The channel that each place of a position-sensitive operator's output [k, ...] reads: int32 of its shape.
at::Tensor channelMapping(const at::Tensor& output);

/// A dense batch as the kernels take it.
template <typename T>
kernels::regions::Images<T> imagesOf(const at::Tensor& dense) {
  return {dense.const_data_ptr<T>(), dense.size(1), dense.size(2), dense.size(3)};
}

}  // namespace torchtrt::vision
