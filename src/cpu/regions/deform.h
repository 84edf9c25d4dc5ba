// Computes the columns of deform_conv2d, which are samples at places of their own. Their product with the weights is
// the result. The arithmetic and its order are torchvision's.
#pragma once

#include <cmath>
#include <cstdint>

namespace torchtrt::kernels::regions {

struct DeformGeometry {
  int64_t stride[2], padding[2], dilation[2];
  int64_t kernel[2], input[2], output[2];
  int64_t channels, offset_groups;

  int64_t taps() const {
    return kernel[0] * kernel[1];
  }
  int64_t places() const {
    return output[0] * output[1];
  }
  /// Along an axis; below 1 where the input is smaller than the kernel.
  int64_t outputSize(int axis) const {
    const int64_t room = input[axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1;
    return room < 0 ? 0 : room / stride[axis] + 1;
  }
};

/// A bilinear sample of a channel of height x width, to which zeros lie all around.
template <typename T>
T sampleInZeros(const T* channel, int64_t height, int64_t width, T y, T x) {
  if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width))) {
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
void fillColumns(const T* channel, const T* offset, const T* mask, const DeformGeometry& g, T* columns) {
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

/// The columns [taps, places] of channel `channel` of image `n`, of row-major input, offsets and masks (null for none).
template <typename T>
void fillChannel(const T* input, const T* offsets, const T* masks, const DeformGeometry& g, int64_t n, int64_t channel,
                 T* columns) {
  const int64_t group = n * g.offset_groups + channel / (g.channels / g.offset_groups);
  const int64_t values = g.taps() * g.places();
  fillColumns(input + (n * g.channels + channel) * g.input[0] * g.input[1], offsets + group * 2 * values,
              masks ? masks + group * values : nullptr, g, columns);
}

}  // namespace torchtrt::kernels::regions
