// The plugins behind torchvision's operators on regions and deformable convolutions, float32 and float64.
//
// torchtrt::PoolRegions: operands images [n,c,h,w] and regions [k,5] (index of the image, left, top, right, bottom);
// fields op (align, max; align_by_position, mean_by_position: every cell reads channels of its own), rows, columns,
// spatial_scale, and for the aligning ones sampling_ratio and aligned. Output [k,c,rows,columns], or c / (rows *
// columns) channels by position; max gives int32 places within the channel beside it.
//
// torchtrt::DeformedColumns: operands input [n,c,h,w], offset [n,2*g*taps,oh,ow] and optionally mask [n,g*taps,oh,ow];
// fields kernel, stride, padding, dilation (two numbers each) and offset_groups g. Output [n,c*taps,oh*ow], which
// multiplied with the weights is the convolution.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::regions {

std::shared_ptr<const plugin::PluginCreator> createPoolRegionsCreator();
std::shared_ptr<const plugin::PluginCreator> createDeformedColumnsCreator();

}  // namespace torchtrt::kernels::regions
