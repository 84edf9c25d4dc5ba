#include "cpu/convolution/gemm/implicit_gemm.h"

namespace torchtrt::kernels::convolution {

std::vector<Tap> tapsOf(const Geometry& geometry, Reading reading, const Image& input) {
  const Geometry& g = geometry;
  const int64_t per_plane = reading == Reading::kPlanes ? g.channels : 1;
  const int64_t widths = reading == Reading::kChannels ? g.kernel[2] : 1;
  std::vector<Tap> taps;
  for (int64_t c = 0; c < per_plane; ++c) {
    for (int64_t z = 0; z < g.kernel[0]; ++z) {
      for (int64_t y = 0; y < g.kernel[1]; ++y) {
        for (int64_t x = 0; x < widths; ++x) {
          const Spatial at = {z * g.dilation[0], y * g.dilation[1], x * g.dilation[2]};
          taps.push_back({at, c * input.channel_stride + at[0] * input.stride[0] + at[1] * input.stride[1] +
                                  at[2] * input.stride[2]});
        }
      }
    }
  }
  return taps;
}

int64_t offsetOfWindow(const Geometry& geometry, const Image& input, const Pixel& pixel) {
  int64_t offset = pixel[0] * input.batch_stride;
  for (size_t i = 0; i < 3; ++i) {
    // padding is less than 0 where it cuts off
    offset += (pixel[i + 1] * geometry.stride[i] - geometry.pre_padding[i]) * input.stride[i];
  }
  return offset;
}

bool isFlat(const Image& image) {
  int64_t stride = image.stride[2] * image.size[2];
  for (const size_t i : {1, 0}) {
    if (image.size[i] != 1 && image.stride[i] != stride) {
      return false;
    }
    stride *= image.size[i];
  }
  return image.batch == 1 || image.batch_stride == stride;
}

}  // namespace torchtrt::kernels::convolution
