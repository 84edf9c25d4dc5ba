#include "vision/regions.h"

namespace torchtrt::vision {

void checkRegions(const char* op, const at::Tensor& input, const at::Tensor& rois, int64_t pooled_height,
                  int64_t pooled_width) {
  TORCH_CHECK(input.is_cpu() && rois.is_cpu(), op, ": expected tensors on the CPU, got images on ", input.device(),
              " and regions on ", rois.device());
  TORCH_CHECK(input.dim() == 4, op, ": expected images of shape [n, channels, height, width], got ", input.sizes());
  TORCH_CHECK(rois.dim() == 2 && rois.size(1) == 5, op, ": expected regions of shape [k, 5], got ", rois.sizes());
  TORCH_CHECK(input.scalar_type() == rois.scalar_type(), op, ": expected images and regions of one dtype, got ",
              input.scalar_type(), " and ", rois.scalar_type());
  TORCH_CHECK(pooled_height > 0 && pooled_width > 0, op, ": expected an output of at least 1 x 1, got ", pooled_height,
              " x ", pooled_width);
  if (rois.size(0) > 0) {
    TORCH_CHECK(input.size(2) > 0 && input.size(3) > 0, op, ": expected images with pixels, got ", input.sizes());
    const at::Tensor index = rois.select(1, 0);
    TORCH_CHECK(index.ge(0).logical_and(index.lt(input.size(0))).all().item<bool>(), op,
                ": a region names an image that is not there: the batch has ", input.size(0));
  }
}

int64_t channelsPerCell(const char* op, const at::Tensor& input, int64_t pooled_height, int64_t pooled_width) {
  const int64_t cells = pooled_height * pooled_width;
  TORCH_CHECK(input.size(1) % cells == 0, op, ": expected a multiple of ", cells, " channels for ", pooled_height,
              " x ", pooled_width, " cells, got ", input.size(1));
  return input.size(1) / cells;
}

at::Tensor channelMapping(const at::Tensor& output) {
  const at::IntArrayRef shape = output.sizes();
  const at::Tensor channels = at::arange(shape[1] * shape[2] * shape[3], output.options().dtype(at::kInt));
  return channels.view(shape.slice(1)).expand(shape).contiguous();
}

}  // namespace torchtrt::vision
