#include <ATen/Dispatch.h>

#include <algorithm>
#include <vector>

#include "cpu/regions/suppress.h"
#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

void check(const at::Tensor& dets, const at::Tensor& scores) {
  TORCH_CHECK(dets.is_cpu() && scores.is_cpu(), "nms: expected tensors on the CPU, got boxes on ", dets.device(),
              " and scores on ", scores.device());
  TORCH_CHECK(dets.dim() == 2 && dets.size(1) == 4, "nms: expected boxes of shape [n, 4], got ", dets.sizes());
  TORCH_CHECK(scores.dim() == 1, "nms: expected scores of shape [n], got ", scores.sizes());
  TORCH_CHECK(dets.size(0) == scores.size(0), "nms: expected as many scores as boxes, got ", scores.size(0), " for ",
              dets.size(0));
  TORCH_CHECK(dets.scalar_type() == scores.scalar_type(), "nms: expected boxes and scores of one dtype, got ",
              dets.scalar_type(), " and ", scores.scalar_type());
}

}  // namespace

at::Tensor nms(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold) {
  check(dets, scores);
  const at::TensorOptions index_options = dets.options().dtype(at::kLong);
  std::vector<int64_t> kept;
  AT_DISPATCH_FLOATING_TYPES(dets.scalar_type(), "nms", [&] {
    if (dets.numel() > 0) {
      const at::Tensor order = std::get<1>(scores.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true)).contiguous();
      const at::Tensor corners = dets.contiguous();
      kept = kernels::regions::keptBoxes(corners.const_data_ptr<scalar_t>(), order.const_data_ptr<int64_t>(),
                                         dets.size(0), iou_threshold);
    }
  });
  at::Tensor result = at::empty({static_cast<int64_t>(kept.size())}, index_options);
  std::copy(kept.begin(), kept.end(), result.mutable_data_ptr<int64_t>());
  return result;
}

}  // namespace torchtrt::vision
