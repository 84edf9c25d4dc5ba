#include <ATen/Dispatch.h>

#include <algorithm>
#include <vector>

#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

template <typename T>
struct Boxes {
  explicit Boxes(const at::Tensor& dets) {
    const at::Tensor columns = dets.t().contiguous();
    const int64_t count = dets.size(0);
    const T* data = columns.const_data_ptr<T>();
    for (int side = 0; side < 4; ++side) {
      sides[side].assign(data + side * count, data + (side + 1) * count);
    }
    areas.reserve(static_cast<size_t>(count));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      areas.push_back((sides[2][i] - sides[0][i]) * (sides[3][i] - sides[1][i]));
    }
  }

  /// Intersection over union. The operands' order decides where a coordinate is NaN: the maximum of 0 and NaN is 0.
  T overlap(size_t a, size_t b) const {
    const T width = std::min(sides[2][a], sides[2][b]) - std::max(sides[0][a], sides[0][b]);
    const T height = std::min(sides[3][a], sides[3][b]) - std::max(sides[1][a], sides[1][b]);
    const T intersection = std::max(T(0), width) * std::max(T(0), height);
    return intersection / (areas[a] + areas[b] - intersection);
  }

  std::vector<T> sides[4];
  std::vector<T> areas;
};

template <typename T>
std::vector<int64_t> keptBoxes(const at::Tensor& dets, const int64_t* order, double iou_threshold) {
  const Boxes<T> boxes(dets);
  const auto count = static_cast<size_t>(dets.size(0));
  std::vector<char> removed(count, 0);
  std::vector<int64_t> kept;
  for (size_t i = 0; i < count; ++i) {
    const auto best = static_cast<size_t>(order[i]);
    if (removed[best]) {
      continue;
    }
    kept.push_back(order[i]);
    for (size_t j = i + 1; j < count; ++j) {
      const auto other = static_cast<size_t>(order[j]);
      if (!removed[other] && boxes.overlap(best, other) > iou_threshold) {
        removed[other] = 1;
      }
    }
  }
  return kept;
}

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
      kept = keptBoxes<scalar_t>(dets, order.const_data_ptr<int64_t>(), iou_threshold);
    }
  });
  at::Tensor result = at::empty({static_cast<int64_t>(kept.size())}, index_options);
  std::copy(kept.begin(), kept.end(), result.mutable_data_ptr<int64_t>());
  return result;
}

}  // namespace torchtrt::vision
