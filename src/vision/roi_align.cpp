#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include "cpu/regions/align.h"
#include "vision/regions.h"
#include "vision/vision.h"

namespace torchtrt::vision {
using kernels::regions::AlignOptions;

at::Tensor roiAlign(const at::Tensor& input, const at::Tensor& rois, double spatial_scale, int64_t pooled_height,
                    int64_t pooled_width, int64_t sampling_ratio, bool aligned) {
  checkRegions("roi_align", input, rois, pooled_height, pooled_width);
  const AlignOptions options{spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned};
  const at::Tensor images = input.contiguous(), regions = rois.contiguous();
  const int64_t channels = input.size(1);
  at::Tensor output = at::empty({rois.size(0), channels, pooled_height, pooled_width}, input.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "roi_align", [&] {
    const auto batch = imagesOf<scalar_t>(images);
    const auto* roi = regions.const_data_ptr<scalar_t>();
    auto* out = output.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rois.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        kernels::regions::alignRegion(batch, roi + k * 5, options, out + k * channels * pooled_height * pooled_width);
      }
    });
  });
  return output;
}

std::tuple<at::Tensor, at::Tensor> psRoiAlign(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                              int64_t pooled_height, int64_t pooled_width, int64_t sampling_ratio) {
  checkRegions("ps_roi_align", input, rois, pooled_height, pooled_width);
  const int64_t channels_out = channelsPerCell("ps_roi_align", input, pooled_height, pooled_width);
  const AlignOptions options{spatial_scale, pooled_height, pooled_width, sampling_ratio, true};
  const at::Tensor images = input.contiguous(), regions = rois.contiguous();
  const int64_t channels = input.size(1);
  at::Tensor output = at::empty({rois.size(0), channels_out, pooled_height, pooled_width}, input.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "ps_roi_align", [&] {
    const auto batch = imagesOf<scalar_t>(images);
    const auto* roi = regions.const_data_ptr<scalar_t>();
    auto* out = output.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rois.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        kernels::regions::alignRegionByPosition(batch, roi + k * 5, options, out + k * channels);
      }
    });
  });
  return {output, channelMapping(output)};
}

}  // namespace torchtrt::vision
