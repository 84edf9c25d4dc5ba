#include "cpu/convolution/gemm/taps.h"

namespace torchtrt::kernels::convolution {
namespace {

// True if the pixels of a line lie next to each other, however images of one channel are ordered otherwise.
bool hasDenseLines(const Operand& input) {
  if (isRowMajor(input) || isChannelsLast(input)) {
    return true;
  }
  const std::vector<uint8_t>& order = input.order;
  const bool channels_are_last = order.back() == 1;
  return order[order.size() - (channels_are_last ? 2 : 1)] + size_t{1} == order.size();
}

Reading chooseReading(const Geometry& g, const Operand& input) {
  if (!isChannelsLast(input) && g.channels > 1) {
    return Reading::kPlanes;
  }
  const bool has_few_channels = g.groups == 1 && g.channels <= kFewChannels && g.dilation[2] == 1 && g.kernel[2] > 1;
  return has_few_channels && hasDenseLines(input) ? Reading::kChannelRows : Reading::kChannels;
}

}  // namespace

Runs runsOf(const Geometry& geometry, const Operand& input) {
  const int64_t channels = geometry.channels / geometry.groups;
  Runs runs;
  runs.reading = chooseReading(geometry, input);
  runs.run = runs.reading == Reading::kChannels      ? channels
             : runs.reading == Reading::kChannelRows ? channels * geometry.kernel[2]
                                                     : geometry.kernel[2];
  runs.taps = channels * geometry.taps() / runs.run;
  return runs;
}

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

}  // namespace torchtrt::kernels::convolution
