// torchvision's operators for the CPU without torchvision: boxes, regions and deformable convolution, with the
// arguments, dtypes, results and refusals of torchvision 0.26. For inference: there are no backward kernels.
//
// Tensors are boxes [n, 4] as (x1, y1, x2, y2), images [n, channels, height, width], and regions [k, 5] as (index of
// the image, x1, y1, x2, y2) in coordinates that spatial_scale turns into pixels of the images.
#pragma once

#include <ATen/ATen.h>

#include <tuple>

namespace torchtrt::vision {

/// Indices of the boxes that remain, best score first: each box removes those after it that overlap it by more than
/// iou_threshold, as intersection over union. int64 [m].
at::Tensor nms(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);

/// Intersection over union of every box of boxes1 with every one of boxes2, both [n, 5] as (center x, center y, width,
/// height, degrees). float32 [n1, n2].
at::Tensor boxIouRotated(const at::Tensor& boxes1, const at::Tensor& boxes2);

/// The mean of bilinear samples in each cell of a pooled_height x pooled_width grid over each region (Mask R-CNN).
/// A sampling_ratio of 0 or less takes as many samples as the cell has pixels. [k, channels, pooled_height,
/// pooled_width].
at::Tensor roiAlign(const at::Tensor& input, const at::Tensor& rois, double spatial_scale, int64_t pooled_height,
                    int64_t pooled_width, int64_t sampling_ratio, bool aligned);

/// roiAlign in which every cell reads channels of its own (R-FCN); the second result says which, int32.
/// [k, channels / (pooled_height * pooled_width), pooled_height, pooled_width].
std::tuple<at::Tensor, at::Tensor> psRoiAlign(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                              int64_t pooled_height, int64_t pooled_width, int64_t sampling_ratio);

/// The maximum of each cell (Fast R-CNN); the second result is where it lies in its channel, int32, -1 if nowhere.
std::tuple<at::Tensor, at::Tensor> roiPool(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                           int64_t pooled_height, int64_t pooled_width);

/// The mean of each cell over channels of its own (R-FCN); the second result says which, int32.
std::tuple<at::Tensor, at::Tensor> psRoiPool(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                                             int64_t pooled_height, int64_t pooled_width);

/// Convolution whose taps are moved by offset [n, offset_groups * 2 * kernel height * kernel width, out height, out
/// width], as (dy, dx) pairs, and, with use_mask, weighed by mask [n, offset_groups * kernel height * kernel width,
/// ...].
at::Tensor deformConv2d(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& offset,
                        const at::Tensor& mask, const at::Tensor& bias, int64_t stride_h, int64_t stride_w,
                        int64_t pad_h, int64_t pad_w, int64_t dilation_h, int64_t dilation_w, int64_t groups,
                        int64_t offset_groups, bool use_mask);

}  // namespace torchtrt::vision
