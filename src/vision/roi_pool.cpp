#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include "cpu/regions/pool.h"
#include "vision/regions.h"
#include "vision/vision.h"

namespace torchtrt::vision {
using kernels::regions::PoolOptions;

std::tuple<at::Tensor, at::Tensor> roiPool(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                           int64_t pooled_height, int64_t pooled_width) {
  checkRegions("roi_pool", input, rois, pooled_height, pooled_width);
  const PoolOptions options{spatial_scale, pooled_height, pooled_width};
  const at::Tensor images = input.contiguous(), regions = rois.contiguous();
  at::Tensor output = at::empty({rois.size(0), input.size(1), pooled_height, pooled_width}, input.options());
  at::Tensor places = at::empty(output.sizes(), input.options().dtype(at::kInt));
  const int64_t per_region = input.size(1) * pooled_height * pooled_width;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "roi_pool", [&] {
    const auto batch = imagesOf<scalar_t>(images);
    const auto* roi = regions.const_data_ptr<scalar_t>();
    auto* out = output.mutable_data_ptr<scalar_t>();
    auto* place = places.mutable_data_ptr<int32_t>();
    at::parallel_for(0, rois.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        kernels::regions::poolRegion(batch, roi + k * 5, options, out + k * per_region, place + k * per_region);
      }
    });
  });
  return {output, places};
}

std::tuple<at::Tensor, at::Tensor> psRoiPool(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                             int64_t pooled_height, int64_t pooled_width) {
  checkRegions("ps_roi_pool", input, rois, pooled_height, pooled_width);
  const int64_t channels_out = channelsPerCell("ps_roi_pool", input, pooled_height, pooled_width);
  const PoolOptions options{spatial_scale, pooled_height, pooled_width};
  const at::Tensor images = input.contiguous(), regions = rois.contiguous();
  at::Tensor output = at::empty({rois.size(0), channels_out, pooled_height, pooled_width}, input.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "ps_roi_pool", [&] {
    const auto batch = imagesOf<scalar_t>(images);
    const auto* roi = regions.const_data_ptr<scalar_t>();
    auto* out = output.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rois.size(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        kernels::regions::poolRegionByPosition(batch, roi + k * 5, options, out + k * input.size(1));
      }
    });
  });
  return {output, channelMapping(output)};
}

}  // namespace torchtrt::vision
