#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include "cpu/regions/deform.h"
#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

using kernels::regions::DeformGeometry;

/// The columns [channels * taps, out height * out width] of image n.
template <typename T>
void fillImage(const at::Tensor& input, const at::Tensor& offset, const at::Tensor* mask, int64_t n,
               const DeformGeometry& g, at::Tensor& columns) {
  T* out = columns.mutable_data_ptr<T>();
  at::parallel_for(0, g.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      kernels::regions::fillChannel(input.const_data_ptr<T>(), offset.const_data_ptr<T>(),
                                    mask ? mask->const_data_ptr<T>() : nullptr, g, n, channel,
                                    out + channel * g.taps() * g.places());
    }
  });
}

void checkTensors(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& offset, const at::Tensor& mask,
                  const at::Tensor& bias, bool use_mask) {
  TORCH_CHECK(input.dim() == 4 && weight.dim() == 4 && offset.dim() == 4 && (!use_mask || mask.dim() == 4),
              "deform_conv2d: expected input, weight, offset and mask of four dimensions, got ", input.sizes(), ", ",
              weight.sizes(), ", ", offset.sizes(), " and ", mask.sizes());
  for (const at::Tensor* tensor : {&input, &weight, &offset, &mask, &bias}) {
    TORCH_CHECK(tensor->is_cpu(), "deform_conv2d: expected tensors on the CPU, got one on ", tensor->device());
    TORCH_CHECK(tensor->scalar_type() == input.scalar_type(), "deform_conv2d: expected tensors of one dtype, got ",
                input.scalar_type(), " and ", tensor->scalar_type());
  }
}

void checkShape(const char* name, const at::Tensor& tensor, const DeformGeometry& g, int64_t per_tap) {
  const std::vector<int64_t> expected = {tensor.size(0), g.offset_groups * per_tap * g.taps(), g.output[0],
                                         g.output[1]};
  TORCH_CHECK(tensor.sizes() == at::IntArrayRef(expected), "deform_conv2d: expected ", name, " of shape ",
              at::IntArrayRef(expected), ", got ", tensor.sizes());
}

}  // namespace

at::Tensor deformConv2d(const at::Tensor& input_any, const at::Tensor& weight, const at::Tensor& offset_any,
                        const at::Tensor& mask_any, const at::Tensor& bias, int64_t stride_h, int64_t stride_w,
                        int64_t pad_h, int64_t pad_w, int64_t dilation_h, int64_t dilation_w, int64_t groups,
                        int64_t offset_groups, bool use_mask) {
  checkTensors(input_any, weight, offset_any, mask_any, bias, use_mask);
  const at::Tensor input = input_any.contiguous(), offset = offset_any.contiguous(), mask = mask_any.contiguous();
  DeformGeometry g{{stride_h, stride_w},
                   {pad_h, pad_w},
                   {dilation_h, dilation_w},
                   {weight.size(2), weight.size(3)},
                   {input.size(2), input.size(3)},
                   {0, 0},
                   input.size(1),
                   offset_groups};
  const int64_t batch = input.size(0), channels_out = weight.size(0);
  TORCH_CHECK(
      g.taps() > 0 && stride_h > 0 && stride_w > 0 && pad_h >= 0 && pad_w >= 0 && dilation_h > 0 && dilation_w > 0,
      "deform_conv2d: expected a kernel, strides and dilations of at least 1 and paddings of at least 0");
  TORCH_CHECK(groups > 0 && weight.size(1) * groups == g.channels && channels_out % groups == 0,
              "deform_conv2d: expected a weight for ", g.channels, " channels in ", groups, " groups, got ",
              weight.sizes());
  TORCH_CHECK(offset_groups > 0 && g.channels % offset_groups == 0,
              "deform_conv2d: expected a number of channels that ", offset_groups, " offset groups share, got ",
              g.channels);
  TORCH_CHECK(bias.dim() == 1 && bias.size(0) == channels_out, "deform_conv2d: expected a bias of ", channels_out,
              " values, got ", bias.sizes());
  for (int axis = 0; axis < 2; ++axis) {
    g.output[axis] = g.outputSize(axis);
    TORCH_CHECK(g.output[axis] > 0, "deform_conv2d: expected an input at least as large as the kernel's reach, got ",
                input.sizes());
  }
  TORCH_CHECK(offset.size(0) == batch && (!use_mask || mask.size(0) == batch),
              "deform_conv2d: expected offset and mask for a batch of ", batch);
  checkShape("offset", offset, g, 2);
  if (use_mask) {
    checkShape("mask", mask, g, 1);
  }

  at::Tensor output = at::empty({batch, channels_out, g.output[0], g.output[1]}, input.options());
  const at::Tensor kernels = weight.reshape({groups, channels_out / groups, -1});
  at::Tensor columns = at::empty({g.channels * g.taps(), g.places()}, input.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(input.scalar_type(), "deform_conv2d", [&] {
    for (int64_t n = 0; n < batch; ++n) {
      fillImage<scalar_t>(input, offset, use_mask ? &mask : nullptr, n, g, columns);
      at::Tensor image = output.select(0, n).view({groups, channels_out / groups, g.places()});
      at::bmm_out(image, kernels, columns.view({groups, -1, g.places()}));
    }
  });
  return output.add_(bias.view({1, channels_out, 1, 1}));
}

}  // namespace torchtrt::vision
