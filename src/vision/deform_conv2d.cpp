#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

struct Geometry {
  int64_t stride[2], padding[2], dilation[2];
  int64_t kernel[2], input[2], output[2];
  int64_t channels, offset_groups;

  int64_t taps() const {
    return kernel[0] * kernel[1];
  }
  int64_t places() const {
    return output[0] * output[1];
  }
};

/// A bilinear sample of a channel of height x width, to which zeros lie all around.
template <typename T>
T sampleInZeros(const T* channel, int64_t height, int64_t width, T y, T x) {
  if (!(y > -1 && y < height && x > -1 && x < width)) {
    return std::isnan(static_cast<float>(y)) || std::isnan(static_cast<float>(x)) ? y + x : T(0);
  }
  const auto top = static_cast<int64_t>(std::floor(static_cast<double>(y)));
  const auto left = static_cast<int64_t>(std::floor(static_cast<double>(x)));
  const T down = y - static_cast<T>(top), right = x - static_cast<T>(left);
  const T up = T(1) - down, keep = T(1) - right;
  const auto value = [&](int64_t row, int64_t column) {
    const bool is_inside = row >= 0 && row < height && column >= 0 && column < width;
    return is_inside ? channel[row * width + column] : T(0);
  };
  return up * keep * value(top, left) + up * right * value(top, left + 1) + down * keep * value(top + 1, left) +
         down * right * value(top + 1, left + 1);
}

/// Fills columns [taps, out height * out width] with the samples of one channel. `offset` is its group's (dy, dx)
/// planes, `mask` its group's weights, null for none.
template <typename T>
void fillColumns(const T* channel, const T* offset, const T* mask, const Geometry& g, T* columns) {
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    const int64_t base_y = tap / g.kernel[1] * g.dilation[0] - g.padding[0];
    const int64_t base_x = tap % g.kernel[1] * g.dilation[1] - g.padding[1];
    const T* dy = offset + 2 * tap * g.places();
    const T* dx = dy + g.places();
    for (int64_t place = 0; place < g.places(); ++place) {
      const T y = static_cast<T>(place / g.output[1] * g.stride[0] + base_y) + dy[place];
      const T x = static_cast<T>(place % g.output[1] * g.stride[1] + base_x) + dx[place];
      const T sample = sampleInZeros(channel, g.input[0], g.input[1], y, x);
      *columns++ = mask ? mask[tap * g.places() + place] * sample : sample;
    }
  }
}

/// The columns [channels * taps, out height * out width] of image n.
template <typename T>
void fillImage(const at::Tensor& input, const at::Tensor& offset, const at::Tensor* mask, int64_t n, const Geometry& g,
               at::Tensor& columns) {
  const T* image = input.const_data_ptr<T>() + n * g.channels * g.input[0] * g.input[1];
  const T* offsets = offset.const_data_ptr<T>() + n * g.offset_groups * 2 * g.taps() * g.places();
  const T* masks = mask ? mask->const_data_ptr<T>() + n * g.offset_groups * g.taps() * g.places() : nullptr;
  T* out = columns.mutable_data_ptr<T>();
  at::parallel_for(0, g.channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      const int64_t group = channel / (g.channels / g.offset_groups);
      fillColumns(image + channel * g.input[0] * g.input[1], offsets + group * 2 * g.taps() * g.places(),
                  masks ? masks + group * g.taps() * g.places() : nullptr, g, out + channel * g.taps() * g.places());
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

void checkShape(const char* name, const at::Tensor& tensor, const Geometry& g, int64_t per_tap) {
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
  Geometry g{{stride_h, stride_w},
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
    const int64_t reach = g.dilation[axis] * (g.kernel[axis] - 1) + 1;
    const int64_t room = g.input[axis] + 2 * g.padding[axis] - reach;
    TORCH_CHECK(room >= 0, "deform_conv2d: expected an input at least as large as the kernel, got ", input.sizes(),
                " for a reach of ", reach);
    g.output[axis] = room / g.stride[axis] + 1;
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
